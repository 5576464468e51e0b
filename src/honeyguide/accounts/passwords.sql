-- name: find
-- The password of the user with an email address.
SELECT id, password_hash FROM login_user WHERE email_key = :email_key;

-- name: of_user
-- The password of a user.
SELECT password_hash FROM login_user WHERE id = :user_id;

-- name: set
-- Change the password.
UPDATE login_user SET password_hash = :password_hash WHERE id = :user_id;

-- name: end_sessions
-- End all sessions of a user.
DELETE FROM session WHERE user_id = :user_id;

-- name: end_email_change
-- Withdraw an open change of the email address.
DELETE FROM email_change WHERE user_id = :user_id;

-- name: spend_tickets
-- Delete other links for a new password.
DELETE FROM ticket WHERE user_id = :user_id AND kind = 'password_reset';
