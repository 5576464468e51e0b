-- name: insert
{insert second_factor: user_id, secret, last_step, created_ms = :now_ms} ON CONFLICT (user_id) DO NOTHING;

-- name: secret
SELECT secret FROM second_factor WHERE user_id = :user_id;

-- name: encrypted
SELECT secret FROM second_factor ORDER BY user_id;

-- name: use_step
-- Of two logins with one code at the same moment, one finds that it was used.
UPDATE second_factor SET last_step = :step WHERE user_id = :user_id AND last_step < :step;

-- name: delete
DELETE FROM second_factor WHERE user_id = :user_id;

-- name: add_codes
INSERT INTO recovery_code (user_id, digest) SELECT :user_id, i.value FROM {list :digests AS i};

-- name: count_codes
SELECT COUNT(*) FROM recovery_code WHERE user_id = :user_id;

-- name: use_code
DELETE FROM recovery_code WHERE user_id = :user_id AND digest = :digest;

-- name: delete_codes
DELETE FROM recovery_code WHERE user_id = :user_id;
