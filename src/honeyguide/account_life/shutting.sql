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
