-- name: insert
-- touches: adds api_key
{insert api_key: id, account_id, name, digest, prefix, created_ms};

-- name: of_account
SELECT id, name, prefix, created_ms, last_used_ms, revoked_ms FROM api_key
WHERE account_id = :account_id ORDER BY created_ms DESC, id DESC;

-- name: revoke
UPDATE api_key SET revoked_ms = :now_ms WHERE account_id = :account_id AND id = :id AND revoked_ms IS NULL;

-- name: by_prefix
SELECT account_id, id FROM api_key WHERE (prefix = :shown OR id = :shown) AND revoked_ms IS NULL;
