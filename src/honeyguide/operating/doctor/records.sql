-- name: failing_webhooks
-- How many webhooks are failing.
SELECT COUNT(*) AS n FROM webhook WHERE failing_since_ms IS NOT NULL AND disabled_ms IS NULL;
