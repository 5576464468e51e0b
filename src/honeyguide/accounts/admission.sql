-- name: find_caller
SELECT k.id AS key_id, k.account_id, c.id AS campaign_id, k.last_used_ms
FROM api_key AS k JOIN campaign AS c ON c.account_id = k.account_id
WHERE k.digest = :digest AND k.revoked_ms IS NULL;

-- name: admit (postgres)
SELECT key_id, account_id, campaign_id, refused, left_over, frees_ms FROM admit(:digest, :now_ms, :most, :window_ms);

-- name: touch
UPDATE api_key SET last_used_ms = :now_ms WHERE account_id = :account_id AND id = :key_id;
