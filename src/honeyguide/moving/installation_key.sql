-- name: current
-- The key that this installation signs with.
SELECT {key} FROM installation_key WHERE is_current = 1;

-- name: list
-- All keys that it ever signed with.
SELECT {key} FROM installation_key ORDER BY created_ms DESC, id DESC;

-- name: insert
-- Of two processes that make the first key at once, one keeps its own.
{insert installation_key: id, public_key, private_key, is_current = 1, created_ms = :now_ms}
ON CONFLICT (is_current) DO NOTHING;

-- name: retire
-- Retire the current key; what it signed can still be checked.
UPDATE installation_key SET is_current = NULL, retired_ms = :now_ms WHERE is_current = 1;
