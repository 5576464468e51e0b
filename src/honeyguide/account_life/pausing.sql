-- name: lock
SELECT id FROM account WHERE id = :account_id;

-- name: postpone
UPDATE account SET closes_ms = :closes_ms WHERE id = :account_id AND closed_ms IS NULL;

-- name: set
UPDATE account SET paused_ms = :paused_ms WHERE id = :account_id;
