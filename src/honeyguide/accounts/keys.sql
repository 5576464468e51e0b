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

-- name: expiring
-- One that was replaced ends because somebody wanted it to, and one that lives for less than the notice was
-- made so lately.
SELECT k.id, k.account_id, c.id AS campaign_id, k.name, k.prefix, k.expires_ms
FROM api_key AS k JOIN campaign AS c ON c.account_id = k.account_id
WHERE k.expires_ms IS NOT NULL AND k.warned_ms IS NULL AND k.replaced_by IS NULL AND k.revoked_ms IS NULL
    AND k.expires_ms > :now_ms
    AND k.expires_ms <= :now_ms + :notice_ms
    AND k.created_ms < k.expires_ms - :notice_ms
    AND k.last_used_ms >= :now_ms - :in_use_ms
ORDER BY k.expires_ms
LIMIT :most;

-- name: warn
-- Record that the owner was warned that the key expires.
UPDATE api_key SET warned_ms = :now_ms
WHERE account_id = :account_id
  AND id = :id
  AND warned_ms IS NULL
  AND replaced_by IS NULL
  AND revoked_ms IS NULL;
