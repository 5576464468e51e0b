-- name: lock
-- Lock the account.
SELECT id FROM account WHERE id = :account_id;

-- name: postpone
-- Move the time at which the account will be closed.
UPDATE account SET closes_ms = :closes_ms WHERE id = :account_id AND closed_ms IS NULL;

-- name: set
-- Pause the account, or resume it.
UPDATE account SET paused_ms = :paused_ms WHERE id = :account_id;
