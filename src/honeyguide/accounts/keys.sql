-- fragment: key
id, name, prefix, created_ms, last_used_ms, revoked_ms, scopes, expires_ms, replaced_by

-- name: insert
-- A new API key.
-- touches: adds api_key
{insert api_key: id, account_id, name, digest, prefix, created_ms, scopes, expires_ms, made_by};

-- name: of_account
-- API keys of the account, the newest first.
SELECT {key} FROM api_key WHERE account_id = :account_id ORDER BY created_ms DESC, id DESC;

-- name: by_id
-- One API key.
SELECT {key} FROM api_key WHERE account_id = :account_id AND id = :id;

-- name: revoke
-- Revoke an API key.
UPDATE api_key SET revoked_ms = :now_ms WHERE account_id = :account_id AND id = :id AND revoked_ms IS NULL;

-- name: replace
-- A key that expires before the overlap ends still does.
UPDATE api_key SET replaced_by = :replaced_by,
    expires_ms = CASE WHEN expires_ms < :expires_ms THEN expires_ms ELSE :expires_ms END
WHERE account_id = :account_id AND id = :id AND revoked_ms IS NULL AND replaced_by IS NULL;

-- name: made_by
-- Active keys that a member made.
SELECT id FROM api_key
WHERE account_id = :account_id AND made_by = :user_id AND revoked_ms IS NULL
ORDER BY created_ms, id;

-- name: by_prefix
-- The active key that somebody found and shows us, by its first characters or its id.
SELECT account_id, id FROM api_key WHERE (prefix = :shown OR id = :shown) AND revoked_ms IS NULL;
