-- name: find_caller
-- The account, campaign and rights that an API key stands for.
SELECT k.id AS key_id, k.account_id, c.id AS campaign_id, k.scopes, k.expires_ms, k.last_used_ms,
       CASE WHEN a.paused_ms IS NULL THEN 0 ELSE 1 END AS is_paused
FROM api_key AS k JOIN campaign AS c ON c.account_id = k.account_id JOIN account AS a ON a.id = k.account_id
WHERE k.digest = :digest AND k.revoked_ms IS NULL;

-- name: admit (postgres)
-- All waiting requests in one round trip. The order is the same in all processes, so that they do not
-- deadlock.
SELECT w.place, a.key_id, a.account_id, a.campaign_id, a.scopes, a.expires_ms, a.refused, a.left_over,
       a.frees_ms,
       CASE
           WHEN EXISTS (SELECT 1
               FROM account AS x
               WHERE x.id = a.account_id AND x.paused_ms IS NOT NULL) THEN 1
           ELSE 0
           END AS is_paused
FROM unnest(CAST(:digests AS TEXT[]), CAST(:asked_ms AS BIGINT[])) WITH ORDINALITY AS w (digest, asked_ms,
    place),
     LATERAL admit_key(w.digest, w.asked_ms, :most, :window_ms) AS a;

-- name: touch
-- Record when the key was last used.
-- touches: changes api_key
UPDATE api_key SET last_used_ms = :now_ms WHERE account_id = :account_id AND id = :key_id;
