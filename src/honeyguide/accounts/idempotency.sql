-- name: claim
-- A row older than a day is as good as none. A twin in flight makes PostgreSQL wait here for its end.
INSERT INTO idempotency (account_id, idempotency_key, fingerprint, created_ms) VALUES (:account_id, :key, :fingerprint, :now_ms)
ON CONFLICT (account_id, idempotency_key) DO UPDATE
SET fingerprint = excluded.fingerprint, created_ms = excluded.created_ms, status = NULL, body = NULL, about = NULL
WHERE idempotency.created_ms <= :expired_ms;

-- name: find
SELECT fingerprint, status, body FROM idempotency WHERE account_id = :account_id AND idempotency_key = :key;

-- name: complete
UPDATE idempotency SET status = :status, body = :body, about = :about
WHERE account_id = :account_id AND idempotency_key = :key;

-- name: forget
DELETE FROM idempotency WHERE account_id = :account_id AND about = :about;

-- name: purge
DELETE FROM idempotency WHERE (account_id, idempotency_key) IN (
    SELECT account_id, idempotency_key FROM idempotency WHERE created_ms <= :expired_ms ORDER BY created_ms LIMIT :batch
);
