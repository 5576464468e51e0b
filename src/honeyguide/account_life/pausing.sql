-- name: lock
SELECT id FROM account WHERE id = :account_id;

-- name: set
UPDATE account SET paused_ms = :paused_ms WHERE id = :account_id;
