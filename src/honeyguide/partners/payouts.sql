-- name: begin_month
-- Open a month, unless it is open.
{insert period: month} ON CONFLICT (month) DO NOTHING;

-- name: has_month
-- Is there such a month?
SELECT 1 FROM period WHERE month = :month;

-- name: months_to_close
-- Months that are over and not closed.
SELECT month FROM period WHERE closed_ms IS NULL AND month < :this_month ORDER BY month;

-- name: close
-- Close a month: no charge is booked in it from now on.
UPDATE period SET closed_ms = :now_ms WHERE month = :month AND closed_ms IS NULL;

-- name: months_to_pay_out
-- Closed months whose payouts are not all made.
SELECT month FROM period WHERE closed_ms IS NOT NULL AND paid_out_ms IS NULL ORDER BY month LIMIT :most;

-- name: earned
-- What each partner earned in a closed month, from the ledger, in pages ordered by account; 0 if all of it
-- was reversed.
SELECT t.credit, CAST(SUM(t.amount_cents) - COALESCE((
    SELECT SUM(v.amount_cents) FROM transfer AS v
    WHERE v.month = :month AND v.kind = 'reversal' AND v.debit = t.credit
), 0) AS BIGINT) AS cents FROM transfer AS t
WHERE t.month = :month AND t.kind = 'charge' AND t.credit > :after
GROUP BY t.credit
ORDER BY t.credit
LIMIT :batch;

-- name: count_earners
-- How many accounts earned something in a month.
SELECT COUNT(DISTINCT credit) AS n FROM transfer WHERE month = :month AND kind = 'charge';

-- name: insert
-- Payouts of these accounts.
INSERT INTO payout (id, account_id, month, amount_cents, created_ms)
SELECT r.id, r.account_id, :month, r.cents, CAST(:now_ms AS BIGINT)
FROM {rows :rows AS r (id TEXT, account_id TEXT, cents BIGINT)} WHERE true
ON CONFLICT (account_id, month) DO NOTHING;

-- name: insert_transfers
-- Only for the payouts just made; an older one has another id.
INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, created_ms)
SELECT r.transfer_id, 'payout', 'payout:' || p.id, r.debit, CAST(:clearing AS TEXT), p.amount_cents, :month,
    CAST(:now_ms AS BIGINT)
FROM {rows :rows AS r (id TEXT, transfer_id TEXT, debit TEXT)} JOIN payout AS p ON p.id = r.id;

-- name: paid_out
-- Record that all payouts of a month are made.
UPDATE period SET paid_out_ms = :now_ms WHERE month = :month AND paid_out_ms IS NULL;

-- name: lock_month
-- Lock a closed month.
SELECT month FROM period WHERE month = :month AND closed_ms IS NOT NULL;

-- name: count
-- How many payouts the account has.
SELECT COUNT(*) AS n FROM payout WHERE account_id = :account_id;

-- name: list
-- Payouts of the account, the newest first.
SELECT {payout} FROM payout
WHERE account_id = :account_id
ORDER BY created_ms DESC, id DESC
LIMIT :most OFFSET :skip;

-- name: by_id
-- One payout.
SELECT {payout} FROM payout
WHERE account_id = :account_id AND id = :id;

-- name: of_month
-- The payout of a month.
SELECT {payout} FROM payout
WHERE account_id = :account_id AND month = :month;

-- name: all_of_month
-- For the administrator, over all accounts.
SELECT {p.payout}, a.email, a.name
FROM payout AS p JOIN account AS a ON a.id = p.account_id
WHERE (CAST(:month AS TEXT) = '' OR p.month = :month)
  AND (CAST(:open_only AS BIGINT) = 0 OR p.paid_ms IS NULL)
ORDER BY p.month DESC, p.id;

-- name: lock
-- Lock a payout of any account.
SELECT {payout} FROM payout WHERE id = :id;

-- name: mark
-- Record that a payout was paid, or that it was not after all.
UPDATE payout SET paid_ms = :paid_ms, paid_reference = :reference, marks = marks + 1 WHERE id = :id;

-- name: months
-- Months with the sums of their payouts.
SELECT m.month, m.closed_ms, m.paid_out_ms,
       (SELECT COUNT(*) FROM payout AS p WHERE p.month = m.month) AS payouts,
       (SELECT COUNT(*) FROM payout AS p WHERE p.month = m.month AND p.paid_ms IS NOT NULL) AS paid,
       CAST(COALESCE((SELECT SUM(p.amount_cents) FROM payout AS p WHERE p.month = m.month),
               0) AS BIGINT) AS amount_cents
FROM period AS m ORDER BY m.month DESC
LIMIT 36;

-- name: earned_so_far
-- What all accounts earned in a month so far.
SELECT CAST(COALESCE(SUM(CASE kind WHEN 'charge' THEN amount_cents ELSE -amount_cents END),
       0) AS BIGINT) AS cents
FROM transfer WHERE month = :month AND kind IN ('charge', 'reversal');
