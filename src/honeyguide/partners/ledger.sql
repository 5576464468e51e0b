-- name: lock_month
-- No row: the month has not begun. On PostgreSQL the close waits for everyone who has this shared lock.
SELECT CASE WHEN closed_ms IS NULL THEN 0 ELSE 1 END AS is_closed FROM period WHERE month = :month;

-- name: lock_entered_month
-- Lock a month that has entries.
SELECT closed_ms FROM period WHERE month = :month;

-- name: last_closed
-- The last month that was closed.
SELECT MAX(month) AS month FROM period WHERE closed_ms IS NOT NULL;

-- name: begin_month
-- Open a month, unless it is open.
{insert period: month} ON CONFLICT (month) DO NOTHING;

-- name: post
-- An entry of the ledger, from one account to another.
-- touches: adds transfer, reads period
{insert transfer: id, kind, reference, debit, credit, amount_cents, month, created_ms = :now_ms};
