-- name: joined
SELECT id FROM partner_campaign WHERE account_id = :account_id AND left_ms IS NULL ORDER BY id LIMIT :most;

-- name: publications
SELECT id FROM publication WHERE account_id = :account_id AND deleted_ms IS NULL ORDER BY id LIMIT :most;

-- name: webhooks
SELECT id, COALESCE(campaign_id, '') AS scope FROM webhook
WHERE account_id = :account_id
ORDER BY id
LIMIT :most;

-- name: keys
SELECT id FROM api_key WHERE account_id = :account_id AND revoked_ms IS NULL ORDER BY id LIMIT :most;

-- name: has_integration
SELECT 1 FROM integration WHERE account_id = :account_id AND campaign_id = :campaign_id LIMIT 1;

-- name: delete_tickets
DELETE FROM ticket WHERE account_id = :account_id;

-- name: stop_fetches
UPDATE remote_fetch SET is_stopped = 1, secret = '' WHERE account_id = :account_id AND secret <> '';

-- name: stop_imports
UPDATE import SET status = 'done' WHERE account_id = :account_id AND status = 'running';

-- name: set_closed
UPDATE account SET closed_ms = :now_ms WHERE id = :account_id AND closed_ms IS NULL;
