-- name: lock
SELECT id FROM account WHERE id = :account_id;

-- name: postpone
UPDATE account SET closes_ms = :closes_ms WHERE id = :account_id AND closed_ms IS NULL;

-- name: set
UPDATE account SET paused_ms = :paused_ms WHERE id = :account_id;

-- name: remember
UPDATE publication
SET was_enabled = 1
WHERE account_id = :account_id AND enabled_partner_program = 1 AND deleted_ms IS NULL;

-- name: switch_off
UPDATE publication SET enabled_partner_program = 0 WHERE account_id = :account_id AND was_enabled = 1;

-- name: switch_on_again
UPDATE publication SET enabled_partner_program = 1
WHERE account_id = :account_id AND was_enabled = 1 AND deleted_ms IS NULL;

-- name: forget
UPDATE publication SET was_enabled = 0 WHERE account_id = :account_id AND was_enabled = 1;
