-- name: due
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
