-- name: due_months
-- The emails have the digest of the month. They wait for it, but not for long.
SELECT month FROM period WHERE paid_out_ms IS NOT NULL AND notified_ms IS NULL
  AND (digested_ms IS NOT NULL OR closed_ms <= :patient_ms)
ORDER BY month
LIMIT :most;

-- name: month
-- A month whose payouts are made, and how far its notifications are.
SELECT month, notified_program, notified_partner FROM period
WHERE month = :month AND paid_out_ms IS NOT NULL AND notified_ms IS NULL;

-- name: fees
-- What programs spent in a month, for all accounts. An account owes nothing to itself.
SELECT g.program_id, g.account_id, a.email, b.name AS publication_name, g.spent_cents,
       COALESCE(d.digest, '') AS digest
FROM budget AS g JOIN program AS p ON p.id = g.program_id JOIN publication AS b ON b.id = p.publication_id
JOIN account AS a ON a.id = g.account_id
LEFT JOIN month_digest AS d ON d.account_id = g.account_id AND d.month = g.month
WHERE g.month = :month AND g.program_id > :after AND g.spent_cents > 0
ORDER BY g.program_id
LIMIT :batch;

-- name: payouts
-- The next payouts to notify about.
SELECT p.account_id, a.email, p.amount_cents, COALESCE(d.digest, '') AS digest
FROM payout AS p
JOIN account AS a ON a.id = p.account_id
LEFT JOIN month_digest AS d ON d.account_id = p.account_id AND d.month = p.month
WHERE p.month = :month AND p.account_id > :after
ORDER BY p.account_id
LIMIT :batch;

-- name: total
-- How many payouts a month has, and their sum.
SELECT COUNT(*) AS payouts, CAST(COALESCE(SUM(amount_cents), 0) AS BIGINT) AS amount_cents FROM payout
WHERE month = :month AND paid_ms IS NULL;

-- name: administrators
-- The administrators, who pay them.
SELECT id AS account_id, email FROM account WHERE is_admin = 1 ORDER BY id;

-- name: move
-- How far the notifications are.
UPDATE period SET {assign notified_program, notified_partner} WHERE month = :month;

-- name: finish
-- Record that everybody was notified.
UPDATE period SET notified_ms = :now_ms WHERE month = :month AND notified_ms IS NULL;
