-- name: count
-- The count restarts when its window is over, or when the clock was set back by as much. The time of a
-- request is that of its beginning, and requests end in any order: one that began before the first that was
-- counted does not restart it.
INSERT INTO attempt_count (subject, since_ms, n) VALUES (:subject, :now_ms, 1)
ON CONFLICT (subject) DO UPDATE SET
    n = CASE WHEN attempt_count.since_ms > :expired_ms AND attempt_count.since_ms < :ahead_ms
             THEN attempt_count.n + 1 ELSE 1 END,
    since_ms = CASE WHEN attempt_count.since_ms > :expired_ms AND attempt_count.since_ms < excluded.since_ms
                    THEN attempt_count.since_ms ELSE excluded.since_ms END
RETURNING since_ms, n;

-- name: take_back
-- Count one attempt less, because it was not a wrong one.
UPDATE attempt_count SET n = n - 1 WHERE subject = :subject;

-- name: forget
-- Forget the attempts of a subject, as after a successful login.
DELETE FROM attempt_count WHERE subject = :subject;

-- name: expired
-- Counts that are too old to matter.
SELECT subject, since_ms FROM attempt_count WHERE since_ms <= :expired_ms ORDER BY since_ms LIMIT :most;

-- name: purge
-- Not one that counts again since.
DELETE FROM attempt_count WHERE (subject, since_ms) IN (
    SELECT r.subject, r.since_ms FROM {rows :rows AS r (subject TEXT, since_ms BIGINT)}
);
