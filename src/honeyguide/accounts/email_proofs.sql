-- name: login
SELECT email, password_hash, proven_ms, must_prove FROM login_user WHERE id = :user_id;

-- name: require
UPDATE login_user SET must_prove = 1 WHERE id = :user_id;

-- name: waive
UPDATE login_user SET must_prove = 0 WHERE id = :user_id;

-- name: prove
UPDATE login_user SET proven_ms = :now_ms WHERE id = :user_id AND proven_ms IS NULL;

-- name: count_missing
SELECT COUNT(*) FROM login_user WHERE must_prove = 1 AND proven_ms IS NULL;
