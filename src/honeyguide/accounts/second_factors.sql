-- name: insert
-- A second factor for a user who has none.
{insert second_factor: user_id, secret, last_step, created_ms = :now_ms} ON CONFLICT (user_id) DO NOTHING;

-- name: secret
-- The secret of a user's second factor.
SELECT secret FROM second_factor WHERE user_id = :user_id;

-- name: encrypted
-- All secrets, to encrypt them with another key.
SELECT secret FROM second_factor ORDER BY user_id;

-- name: use_step
-- Of two logins with one code at the same moment, one finds that it was used.
UPDATE second_factor SET last_step = :step WHERE user_id = :user_id AND last_step < :step;

-- name: delete
-- Remove a second factor.
DELETE FROM second_factor WHERE user_id = :user_id;

-- name: add_codes
-- New recovery codes.
INSERT INTO recovery_code (user_id, digest) SELECT :user_id, i.value FROM {list :digests AS i};

-- name: count_codes
-- How many recovery codes are left.
SELECT COUNT(*) FROM recovery_code WHERE user_id = :user_id;

-- name: use_code
-- Spend a recovery code.
DELETE FROM recovery_code WHERE user_id = :user_id AND digest = :digest;

-- name: delete_codes
-- Delete all recovery codes of a user.
DELETE FROM recovery_code WHERE user_id = :user_id;
