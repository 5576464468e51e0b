-- name: set
-- When an open account will be closed, or that it will not be.
UPDATE account SET closes_ms = :closes_ms WHERE id = :account_id AND closed_ms IS NULL;

-- name: due
-- Accounts whose closing is due and whose data is not deleted yet.
SELECT a.id, c.id AS campaign_id, a.closed_ms FROM account AS a JOIN campaign AS c ON c.account_id = a.id
WHERE a.closes_ms <= :now_ms AND a.emptied_ms IS NULL AND a.paused_ms IS NULL
ORDER BY a.closes_ms, a.id
LIMIT :most;

-- name: by_id
-- One such account.
SELECT a.id, c.id AS campaign_id, a.closed_ms FROM account AS a JOIN campaign AS c ON c.account_id = a.id
WHERE a.id = :account_id AND a.closes_ms <= :now_ms AND a.emptied_ms IS NULL AND a.paused_ms IS NULL;

-- name: to_erase
-- Subscribers of a closing account that can be erased now.
SELECT id FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
  AND NOT (referral_status = 'pending' AND partner_campaign_id IS NOT NULL)
ORDER BY created_ms, id
LIMIT :most;

-- name: has_pending
-- Is a subscriber of the account still there?
SELECT 1 FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
LIMIT 1;

-- name: never_confirmed
-- Of programs without verification settings, whose referrals have no deadline while there is somebody who can
-- decide them.
SELECT s.id FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.erased_ms IS NULL
  AND s.referral_status = 'pending'
  AND s.referral_reason = 'awaiting_confirmation' AND s.received_ms <= :received_ms
ORDER BY s.received_ms, s.id
LIMIT :most;

-- name: set_emptied
-- Record that the data of the account is deleted.
UPDATE account SET emptied_ms = :now_ms WHERE id = :account_id AND emptied_ms IS NULL;

-- name: expired
-- Accounts that were emptied long enough ago to be forgotten.
SELECT id FROM account
WHERE emptied_ms <= :before_ms AND forgotten_ms IS NULL
ORDER BY emptied_ms
LIMIT :most;

-- name: forget
-- Remove the name and the email address of an emptied account.
UPDATE account
SET email = '', name = NULL, forgotten_ms = :now_ms
WHERE id = :account_id AND forgotten_ms IS NULL;

-- name: forget_emails
-- Delete all emails of the account.
DELETE FROM letter WHERE account_id = :account_id;

-- name: forget_notices
-- Delete all notifications of the account.
DELETE FROM notice WHERE account_id = :account_id;

-- name: owed
-- Each is counted up to a limit.
SELECT
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM won_reward WHERE account_id = :account_id AND campaign_id = :campaign_id
          AND status IN ('awaiting_approval', 'unlocked', 'out_of_stock') LIMIT :most
    ) AS w) AS rewards,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM won_reward WHERE account_id = :account_id AND campaign_id = :campaign_id
          AND shipping IS NOT NULL AND sent_ms IS NULL LIMIT :most
    ) AS w) AS shipments,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM subscriber
        WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
          AND referrer_code IS NOT NULL AND referral_status <> 'verified' AND referral_status = 'pending'
          AND partner_campaign_id IS NULL LIMIT :most
    ) AS s) AS referrals,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM subscriber
        WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
          AND referrer_code IS NOT NULL AND referral_status <> 'verified' AND referral_status = 'pending'
          AND partner_campaign_id IS NOT NULL LIMIT :most
    ) AS s) AS paid_referrals,
    (SELECT COUNT(*) FROM payout WHERE account_id = :account_id AND paid_ms IS NULL) AS unpaid_payouts,
    (SELECT COALESCE(SUM(amount_cents), 0)
        FROM payout
        WHERE account_id = :account_id AND paid_ms IS NULL) AS unpaid_cents,
    (SELECT CAST(COALESCE(SUM(g.spent_cents), 0) AS BIGINT)
        FROM program AS p
        JOIN budget AS g ON g.program_id = p.id
     WHERE p.account_id = :account_id
       AND NOT EXISTS (SELECT 1
           FROM period AS m
           WHERE m.month = g.month AND m.closed_ms IS NOT NULL)) AS fees_cents,
    (SELECT CAST(COALESCE(SUM(e.spent_cents), 0) AS BIGINT)
        FROM partner_spend AS e
        WHERE e.partner_account_id = :account_id
       AND NOT EXISTS (SELECT 1
           FROM period AS m
           WHERE m.month = e.month AND m.closed_ms IS NOT NULL)) AS earned_cents;

-- name: joined
-- Partner programs that the account takes part in.
SELECT id FROM partner_campaign WHERE account_id = :account_id AND left_ms IS NULL ORDER BY id LIMIT :most;

-- name: publications
-- Publications that are not deleted.
SELECT id FROM publication WHERE account_id = :account_id AND deleted_ms IS NULL ORDER BY id LIMIT :most;

-- name: webhooks
-- Webhooks of the account and of its campaign.
SELECT id, COALESCE(campaign_id, '') AS scope FROM webhook
WHERE account_id = :account_id
ORDER BY id
LIMIT :most;

-- name: keys
-- API keys that are not revoked.
SELECT id FROM api_key WHERE account_id = :account_id AND revoked_ms IS NULL ORDER BY id LIMIT :most;

-- name: has_integration
-- Does the campaign have an integration?
SELECT 1 FROM integration WHERE account_id = :account_id AND campaign_id = :campaign_id LIMIT 1;

-- name: delete_tickets
-- Delete the invitations and other emailed links of the account.
DELETE FROM ticket WHERE account_id = :account_id;

-- name: stop_fetches
-- Stop fetching from other services, and forget the secrets for it.
UPDATE remote_fetch SET is_stopped = 1, secret = '' WHERE account_id = :account_id AND secret <> '';

-- name: stop_imports
-- End the imports that are running.
UPDATE import SET status = 'done' WHERE account_id = :account_id AND status = 'running';

-- name: set_closed
-- Record that the account is closed.
UPDATE account SET closed_ms = :now_ms WHERE id = :account_id AND closed_ms IS NULL;
