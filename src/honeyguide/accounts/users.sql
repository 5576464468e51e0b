-- fragment: user
id, email, name, created_ms, logged_in_ms

-- name: insert
-- touches: adds login_user
{insert login_user: id, email, email_key, name, created_ms};

-- name: by_email
SELECT {user} FROM login_user WHERE email_key = :email_key;

-- name: by_id
SELECT {user} FROM login_user WHERE id = :id;

-- name: note_login
UPDATE login_user SET logged_in_ms = :now_ms WHERE id = :id;

-- name: rename
UPDATE login_user SET name = :name WHERE id = :id;
