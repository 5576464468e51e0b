-- fragment: embed
account_id, campaign_id, public_id, origins, keep_days, form_selector

-- name: of_campaign
-- The embed of the campaign.
SELECT {embed} FROM embed WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: by_public_id
-- The embed that a website shows.
SELECT {embed} FROM embed WHERE public_id = :public_id AND origins <> '';

-- name: save
-- The public id is in the HTML of websites, so it never changes.
{insert embed: campaign_id, account_id, public_id, origins, keep_days, form_selector, changed_ms = :now_ms}
ON CONFLICT (campaign_id) DO UPDATE SET origins = excluded.origins, keep_days = excluded.keep_days,
    form_selector = excluded.form_selector, changed_ms = excluded.changed_ms
WHERE embed.account_id = excluded.account_id;

-- name: switch_off
-- Switch the embed off.
UPDATE embed
SET origins = '', changed_ms = :now_ms
WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: last_signups
-- The last signups through the embed.
SELECT id, email, name, status, referrer_code, referral_status, received_ms FROM subscriber
WHERE campaign_id = :campaign_id AND account_id = :account_id AND origin = 'embed' AND erased_ms IS NULL
ORDER BY received_ms DESC
LIMIT :most;
