-- name: find_caller
SELECT k.id AS key_id, k.account_id, c.id AS campaign_id, k.last_used_ms
FROM api_key AS k JOIN campaign AS c ON c.account_id = k.account_id
WHERE k.digest = :digest AND k.revoked_ms IS NULL;

-- name: admit (postgres)
SELECT key_id, account_id, campaign_id, refused, left_over, frees_ms FROM admit(:digest, :now_ms, :most, :window_ms);

-- name: touch
UPDATE api_key SET last_used_ms = :now_ms WHERE account_id = :account_id AND id = :key_id;

-- name: make_ring (sqlite)
CREATE TABLE IF NOT EXISTS rate_ring (
    key_id TEXT NOT NULL, slot INTEGER NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (key_id, slot)
) STRICT, WITHOUT ROWID;

-- name: ring (sqlite)
SELECT seq, at_ms FROM rate_ring WHERE key_id = :key_id ORDER BY seq;

-- name: keep (sqlite)
INSERT INTO rate_ring (key_id, slot, seq, at_ms) VALUES (:key_id, :slot, :seq, :now_ms)
ON CONFLICT (key_id, slot) DO UPDATE SET seq = excluded.seq, at_ms = excluded.at_ms;
