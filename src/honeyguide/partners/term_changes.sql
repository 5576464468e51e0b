-- name: lock_program
-- Lock the program whose terms change.
SELECT id FROM program WHERE account_id = :account_id AND id = :program_id AND deleted_ms IS NULL;

-- name: terms
-- The terms of a program.
SELECT p.cpa_cents, p.max_payout_cents, p.referral_pending_duration, p.referral_pending_duration_enabled,
       p.rule,
       COALESCE(p.screening, c.screening) AS screening, p.is_verification_chosen, p.first_look,
       p.total_budget_cents,
       COALESCE((SELECT g.spent_cents FROM budget AS g WHERE g.program_id = p.id AND g.month = :month),
           0) AS spent_cents
FROM program AS p
JOIN campaign AS c ON c.account_id = p.account_id
WHERE p.account_id = :account_id AND p.id = :program_id;

-- name: has_partners
-- Does a program have partners whom a change concerns?
SELECT 1 FROM partner_campaign AS j WHERE j.program_id = :program_id AND j.owner_account_id = :account_id
  AND j.account_id <> :account_id AND j.left_ms IS NULL AND j.removed_ms IS NULL LIMIT 1;

-- fragment: change
id, account_id, program_id, texts, fields, actor_kind, actor_id, starts_ms, is_telling

-- name: to_begin
-- What waits to begin, of one program.
SELECT {change} FROM term_change
WHERE account_id = :account_id AND program_id = :program_id AND fields IS NOT NULL;

-- name: keep
-- Change an announcement that is not told yet.
UPDATE term_change SET texts = :texts, fields = :fields WHERE account_id = :account_id AND id = :id;

-- name: delete
-- Delete an announced change.
DELETE FROM term_change WHERE account_id = :account_id AND id = :id;

-- name: due
-- Announced changes that begin now.
SELECT {change} FROM term_change
WHERE fields IS NOT NULL
  AND starts_ms <= :now_ms
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
ORDER BY starts_ms, id
LIMIT :most;

-- name: begin
-- The announced change is made.
UPDATE term_change SET fields = NULL WHERE account_id = :account_id AND id = :id;

-- name: delete_done
-- Delete an announcement that is told and made.
DELETE FROM term_change WHERE account_id = :account_id AND id = :id AND is_told = 1 AND fields IS NULL;
