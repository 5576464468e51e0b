-- name: find
SELECT id, password_hash FROM login_user WHERE email_key = :email_key;

-- name: of_user
SELECT password_hash FROM login_user WHERE id = :user_id;

-- name: set
UPDATE login_user SET password_hash = :password_hash WHERE id = :user_id;

-- name: end_sessions
DELETE FROM session WHERE user_id = :user_id;

-- name: end_email_change
DELETE FROM email_change WHERE user_id = :user_id;

-- name: spend_tickets
DELETE FROM ticket WHERE user_id = :user_id AND kind = 'password_reset';
