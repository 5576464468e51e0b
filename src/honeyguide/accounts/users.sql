-- fragment: user
id, email, name, created_ms, logged_in_ms

-- name: insert
-- A new user.
-- touches: adds login_user
{insert login_user: id, email, email_key, name, created_ms};

-- name: by_email
-- The user with an email address.
SELECT {user} FROM login_user WHERE email_key = :email_key;

-- name: by_id
-- One user.
SELECT {user} FROM login_user WHERE id = :id;

-- name: note_login
-- Record when a user logged in.
UPDATE login_user SET logged_in_ms = :now_ms WHERE id = :id;

-- name: rename
-- Change the name of a user.
UPDATE login_user SET name = :name WHERE id = :id;
