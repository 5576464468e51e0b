-- name: of_campaign
-- One row for every page and email. A campaign without a logo shows that of the publication with its name, or
-- else the first.
SELECT c.account_id, c.id AS campaign_id, c.name, c.slug, c.words, c.needs_confirmation, b.accent,
    COALESCE(b.logo_id, (
        SELECT p.logo_id FROM publication AS p
        WHERE p.account_id = c.account_id AND p.deleted_ms IS NULL AND p.status = 'active'
        ORDER BY p.name <> c.name, p.created_ms, p.id LIMIT 1
    )) AS logo_id,
    b.icon_id, b.share_id, b.privacy_url, b.imprint_url, b.consent_text_id, t.text AS consent_text,
    COALESCE(b.asks_name, 0) AS asks_name, COALESCE(b.language, 'en') AS language,
    COALESCE(b.follow_browser_language, 0) AS follow_browser_language, b.from_name, b.reply_to,
    COALESCE(b.show_leaderboard, 0) AS show_leaderboard, COALESCE(b.show_inviter, 0) AS show_inviter,
    c.sends_reward_unlocked, c.sends_friend_joined, c.sends_one_more, c.sends_shipment_sent,
    c.link_parameters, CASE WHEN a.paused_ms IS NULL THEN 0 ELSE 1 END AS is_paused,
    CASE WHEN a.closes_ms IS NULL THEN 0 ELSE 1 END AS is_closing
FROM campaign AS c JOIN account AS a ON a.id = c.account_id
LEFT JOIN campaign_brand AS b ON b.campaign_id = c.id AND b.account_id = c.account_id
LEFT JOIN consent_text AS t ON t.id = b.consent_text_id
WHERE c.account_id = :account_id AND c.id = :campaign_id;

-- name: lock
-- Lock the campaign.
SELECT id FROM campaign WHERE account_id = :account_id AND id = :campaign_id;

-- name: pictures
-- The pictures of the campaign.
SELECT {pictures} FROM campaign_brand WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: create
-- The branding of a campaign that has none.
{insert campaign_brand: campaign_id, account_id, changed_ms = :now_ms}
ON CONFLICT (campaign_id) DO NOTHING;

-- name: save
-- Change the branding.
UPDATE campaign_brand SET {assign {fields}, consent_text_id, changed_ms = :now_ms}
WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: save_pictures
-- Change the pictures.
UPDATE campaign_brand SET {assign {pictures}}
WHERE account_id = :account_id AND campaign_id = :campaign_id;
