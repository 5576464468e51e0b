-- fragment: budget
g.program_id, g.month, g.account_id, b.name AS publication_name, b.logo_id, g.spent_cents,
p.total_budget_cents, a.email,
CASE WHEN g.overrun_cents > g.reached_cents THEN g.overrun_cents ELSE g.reached_cents END AS reached_cents

-- fragment: from_budget
FROM budget AS g JOIN program AS p ON p.id = g.program_id
JOIN publication AS b ON b.id = p.publication_id JOIN account AS a ON a.id = g.account_id

-- fragment: only
(CAST(:only AS TEXT) = '' OR g.program_id = :only)

-- fragment: active_partners
SELECT j.id, j.account_id, a.email FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
JOIN program AS p ON p.id = j.program_id JOIN publication AS b ON b.id = p.publication_id
WHERE j.program_id = :program_id AND j.owner_account_id = :account_id AND j.account_id <> :account_id
  AND p.deleted_ms IS NULL AND b.deleted_ms IS NULL AND b.status = 'active' AND b.enabled_partner_program = 1
  AND j.left_ms IS NULL AND j.removed_ms IS NULL
  AND NOT EXISTS (SELECT 1
      FROM partner_block AS x
      WHERE x.account_id = :account_id AND x.partner_account_id = j.account_id)

-- name: nearly_spent
-- Budgets that are nearly spent, whose owners do not know yet.
SELECT {budget}, g.times_reached AS reach
{from_budget}
WHERE g.nearly_ms IS NOT NULL AND g.told_nearly_ms IS NULL AND {only}
ORDER BY g.month, g.program_id
LIMIT :most;

-- name: reached
-- Partners are not notified of a past month. In this month partners are notified at most once a day: unless
-- their notification has begun, it waits while an earlier one is from today. A later month (the clock stepped
-- back) waits too.
SELECT {budget}, g.times_reached AS reach
{from_budget}
WHERE g.reached_ms IS NOT NULL AND g.told_reached_ms IS NULL
  AND (g.month < :month
   OR g.month = :month
      AND (g.reach_notified = g.times_reached OR g.partners_notified_ms IS NULL
       OR g.partners_notified_ms < :day_start_ms OR g.partners_notified_ms >= :day_end_ms)) AND {only}
ORDER BY g.month, g.program_id
LIMIT :most;

-- name: reopened
-- Open again, but partners were last notified that it was reached.
SELECT {budget}, g.reach_notified AS reach
{from_budget}
WHERE g.reached_ms IS NULL AND g.reach_notified > g.reopening_notified AND g.month = :month AND {only}
ORDER BY g.program_id
LIMIT :most;

-- name: lock_reached
-- Locks the budget: raising it waits until this batch of partners is notified.
UPDATE budget SET reached_ms = reached_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id
  AND reached_ms IS NOT NULL AND told_reached_ms IS NULL AND times_reached = :reach;

-- name: lock_reopened
-- Locks the budget: a fee that reaches it again waits until this batch of partners is notified.
UPDATE budget SET reached_ms = reached_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id
  AND reached_ms IS NULL AND reach_notified = :reach AND reopening_notified < :reach;

-- name: mark_nearly_notified
-- Record that the owner was told that the budget is nearly spent.
UPDATE budget SET told_nearly_ms = :now_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id AND told_nearly_ms IS NULL;

-- name: mark_reached_notified
-- Record that the owner was told that the budget is reached.
UPDATE budget SET told_reached_ms = :now_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id AND told_reached_ms IS NULL;

-- name: partners_heard_reached
-- Record that the partners were told that the budget is reached.
UPDATE budget SET reach_notified = :reach, partners_notified_ms = :now_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id;

-- name: mark_reopened_notified
-- Record that the partners were told that there is budget again.
UPDATE budget SET reopening_notified = :reach
WHERE program_id = :program_id AND month = :month AND account_id = :account_id;

-- name: partners_of
-- Active partners of a program that exists.
{active_partners}
  AND NOT EXISTS (SELECT 1 FROM notice AS n WHERE n.account_id = j.account_id AND n.once_key = :once_key)
ORDER BY j.account_id
LIMIT :batch;

-- name: partners_to_reopen
-- Active partners who were notified that the budget was reached, and not yet that it is open again.
{active_partners}
  AND EXISTS (SELECT 1 FROM notice AS n WHERE n.account_id = j.account_id AND n.once_key = :reached_key)
  AND NOT EXISTS (SELECT 1 FROM notice AS n WHERE n.account_id = j.account_id AND n.once_key = :once_key)
ORDER BY j.account_id
LIMIT :batch;
