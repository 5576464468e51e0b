-- name: find
SELECT id, password_hash FROM account WHERE email_key = :email_key;

-- name: of_account
SELECT password_hash FROM account WHERE id = :account_id;

-- name: set
UPDATE account SET password_hash = :password_hash WHERE id = :account_id;

-- name: end_sessions
DELETE FROM session WHERE account_id = :account_id;

-- name: spend_tickets
DELETE FROM ticket WHERE account_id = :account_id AND kind = 'password_reset';
