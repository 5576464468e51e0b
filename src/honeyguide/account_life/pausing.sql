-- name: lock
-- Lock the account.
SELECT id FROM account WHERE id = :account_id;

-- name: postpone
-- Move the time at which the account will be closed.
UPDATE account SET closes_ms = :closes_ms WHERE id = :account_id AND closed_ms IS NULL;

-- name: set
-- Pause the account, or resume it.
UPDATE account SET paused_ms = :paused_ms WHERE id = :account_id;

-- name: remember
-- Remember which publications have their partner program switched on.
UPDATE publication
SET was_enabled = 1
WHERE account_id = :account_id AND enabled_partner_program = 1 AND deleted_ms IS NULL;

-- name: switch_off
-- Switch off the partner programs that were remembered.
UPDATE publication SET enabled_partner_program = 0 WHERE account_id = :account_id AND was_enabled = 1;

-- name: switch_on_again
-- Switch on again what was on before.
UPDATE publication SET enabled_partner_program = 1
WHERE account_id = :account_id AND was_enabled = 1 AND deleted_ms IS NULL;

-- name: forget
-- Forget what was on before.
UPDATE publication SET was_enabled = 0 WHERE account_id = :account_id AND was_enabled = 1;
