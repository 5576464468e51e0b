-- name: login
-- What a user logs in with, and whether the address is proven.
SELECT email, password_hash, proven_ms, must_prove FROM login_user WHERE id = :user_id;

-- name: require
-- The user has to prove the address before the next login.
UPDATE login_user SET must_prove = 1 WHERE id = :user_id;

-- name: waive
-- The user need not prove the address.
UPDATE login_user SET must_prove = 0 WHERE id = :user_id;

-- name: prove
-- Record that the address is proven.
UPDATE login_user SET proven_ms = :now_ms WHERE id = :user_id AND proven_ms IS NULL;

-- name: count_missing
-- Users who still have to prove their address.
SELECT COUNT(*) FROM login_user WHERE must_prove = 1 AND proven_ms IS NULL;
