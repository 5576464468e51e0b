-- name: nearly_spent
SELECT g.program_id, g.month, g.account_id, b.name AS publication_name, g.spent_cents, p.total_budget_cents, a.email
FROM budget AS g JOIN program AS p ON p.id = g.program_id JOIN publication AS b ON b.id = p.publication_id
JOIN account AS a ON a.id = g.account_id
WHERE g.nearly_ms IS NOT NULL AND g.told_nearly_ms IS NULL ORDER BY g.month, g.program_id LIMIT :batch;

-- name: reached
SELECT g.program_id, g.month, g.account_id, b.name AS publication_name, g.spent_cents, p.total_budget_cents, a.email
FROM budget AS g JOIN program AS p ON p.id = g.program_id JOIN publication AS b ON b.id = p.publication_id
JOIN account AS a ON a.id = g.account_id
WHERE g.reached_ms IS NOT NULL AND g.told_reached_ms IS NULL ORDER BY g.month, g.program_id LIMIT :batch;

-- name: told_nearly
UPDATE budget SET told_nearly_ms = :now_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id AND told_nearly_ms IS NULL;

-- name: told_reached
UPDATE budget SET told_reached_ms = :now_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id AND told_reached_ms IS NULL;

-- name: partners_of
-- Active partners: those of an offer that stands. One who ended has nothing left to stop.
SELECT j.id, j.account_id, a.email FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
JOIN program AS p ON p.id = j.program_id JOIN publication AS b ON b.id = p.publication_id
WHERE j.program_id = :program_id AND j.owner_account_id = :account_id AND j.account_id <> :account_id
  AND p.deleted_ms IS NULL AND b.deleted_ms IS NULL AND b.status = 'active' AND b.enabled_partner_program = 1
  AND NOT EXISTS (SELECT 1 FROM notice AS n WHERE n.account_id = j.account_id AND n.once_key = :once_key)
ORDER BY j.account_id LIMIT :batch;
