-- name: next_due
-- Accounts with a daily digest to send.
SELECT n.account_id, a.email FROM notice AS n JOIN account AS a ON a.id = n.account_id
WHERE n.digest_due_ms <= :now_ms AND (CAST(:only AS TEXT) = '' OR n.account_id = :only)
GROUP BY n.account_id, a.email
ORDER BY MIN(n.digest_due_ms), n.account_id
LIMIT :most;

-- name: take
-- The notifications of a digest, which is due no longer.
UPDATE notice SET digest_due_ms = NULL WHERE account_id = :account_id AND digest_due_ms <= :now_ms
RETURNING id, sentence, COALESCE(link, '/notices') AS link, created_ms;
