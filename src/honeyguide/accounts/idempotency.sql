-- name: claim
-- A row older than a day is replaced. PostgreSQL waits here for another request with the same key.
{insert idempotency: account_id, idempotency_key = :key, fingerprint, created_ms = :now_ms}
ON CONFLICT (account_id, idempotency_key) DO UPDATE
SET fingerprint = excluded.fingerprint, created_ms = excluded.created_ms, status = NULL, body = NULL,
    about = NULL
WHERE idempotency.created_ms <= :expired_ms;

-- name: is_claimed
-- Is the idempotency key in use?
SELECT 1 AS n FROM idempotency
WHERE account_id = :account_id AND idempotency_key = :key AND created_ms > :expired_ms;

-- name: find
-- The answer that was given for the idempotency key.
SELECT fingerprint, status, body FROM idempotency WHERE account_id = :account_id AND idempotency_key = :key;

-- name: complete
-- Keep the answer for the idempotency key.
-- touches: changes idempotency
UPDATE idempotency SET {assign status, body, about}
WHERE account_id = :account_id AND idempotency_key = :key;

-- name: forget (sqlite)
-- An answer about a delivery quotes its receiver's response, which may contain personal data.
DELETE FROM idempotency WHERE account_id = :account_id AND about IN (
    SELECT :about
    UNION ALL SELECT :several
    UNION ALL SELECT d.id FROM event AS e
    JOIN delivery AS d ON d.event_id = e.id
    WHERE e.account_id = :account_id AND (e.subscriber_id = :about OR e.referrer_id = :about)
);

-- name: forget (postgres)
-- As an array, so that they are looked up in the index instead of scanning all of the account's answers of a
-- day.
DELETE FROM idempotency WHERE account_id = :account_id AND about = ANY (ARRAY(
    SELECT CAST(:about AS TEXT)
    UNION ALL SELECT CAST(:several AS TEXT)
    UNION ALL SELECT d.id FROM event AS e
    JOIN delivery AS d ON d.event_id = e.id
    WHERE e.account_id = :account_id AND (e.subscriber_id = :about OR e.referrer_id = :about)
));

-- name: expired
-- Idempotency keys that are too old to be used again.
SELECT account_id, idempotency_key, created_ms FROM idempotency
WHERE created_ms <= :expired_ms
ORDER BY created_ms
LIMIT :most;

-- name: purge
-- Not one that a new request has replaced meanwhile.
DELETE FROM idempotency WHERE (account_id, idempotency_key, created_ms) IN (
    SELECT r.account_id, r.idempotency_key, r.created_ms
    FROM {rows :rows AS r (account_id TEXT, idempotency_key TEXT, created_ms BIGINT)}
);
