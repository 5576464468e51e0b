-- name: post
INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, created_ms)
VALUES (:id, :kind, :reference, :debit, :credit, :amount_cents, :month, :now_ms);

-- name: balance
SELECT CAST(COALESCE(SUM(CASE WHEN debit = :account THEN amount_cents ELSE -amount_cents END), 0) AS BIGINT) AS cents
FROM transfer WHERE debit = :account OR credit = :account;
