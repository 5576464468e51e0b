-- name: count
-- The count restarts when its window is over, or when the clock was set back.
INSERT INTO attempt_count (subject, since_ms, n) VALUES (:subject, :now_ms, 1)
ON CONFLICT (subject) DO UPDATE SET
    n = CASE WHEN attempt_count.since_ms > :expired_ms AND attempt_count.since_ms <= excluded.since_ms
             THEN attempt_count.n + 1 ELSE 1 END,
    since_ms = CASE WHEN attempt_count.since_ms > :expired_ms AND attempt_count.since_ms <= excluded.since_ms
                    THEN attempt_count.since_ms ELSE excluded.since_ms END
RETURNING since_ms, n;

-- name: forget
DELETE FROM attempt_count WHERE subject = :subject;

-- name: purge
DELETE FROM attempt_count WHERE subject IN (
    SELECT subject FROM attempt_count WHERE since_ms <= :expired_ms ORDER BY since_ms LIMIT :batch
);
