-- A streak of failure ends with a success, or when nothing was tried for long; every rotated secret keeps its own day.

ALTER TABLE webhook ADD COLUMN failed_ms INTEGER;
ALTER TABLE webhook ADD COLUMN old_secrets TEXT NOT NULL DEFAULT '[]';
UPDATE webhook SET old_secrets = '[{"secret":"' || old_secret || '","until_ms":' || old_secret_until_ms || '}]'
WHERE old_secret IS NOT NULL;
ALTER TABLE webhook DROP COLUMN old_secret;
ALTER TABLE webhook DROP COLUMN old_secret_until_ms;

-- The log is counted and paged through this index alone.
DROP INDEX delivery_log;
CREATE INDEX delivery_log ON delivery (account_id, webhook_id, created_ms, id);
