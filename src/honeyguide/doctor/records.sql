-- name: failing_webhooks
SELECT COUNT(*) AS n FROM webhook WHERE failing_since_ms IS NOT NULL AND disabled_ms IS NULL;

-- name: oldest_unsent_email
SELECT MIN(created_ms) AS since_ms FROM letter WHERE due_ms IS NOT NULL;
