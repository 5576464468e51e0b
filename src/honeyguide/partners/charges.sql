-- name: lock_budget
-- Lock the budget of a month, which is made if there is none.
{insert budget: program_id, month, account_id}
ON CONFLICT (program_id, month) DO UPDATE SET spent_cents = budget.spent_cents
RETURNING month, spent_cents, reached_ms, reached_cents, overrun_cents, overrun_ms;

-- name: lock_partner_spend
-- `person_key` may be any key of the person: a referral keeps that of its arrival. A separate statement after
-- the budget is locked, so that it sees everything committed before.
{insert partner_spend: partner_campaign_id, month, program_id, account_id, partner_account_id}
ON CONFLICT (partner_campaign_id, month) DO UPDATE SET spent_cents = partner_spend.spent_cents
RETURNING spent_cents, (SELECT total_budget_cents FROM program WHERE id = :program_id) AS total_budget_cents,
    (SELECT max_payout_cents FROM program WHERE id = :program_id) AS max_payout_cents,
    (SELECT COALESCE(SUM(CASE WHEN fee_cents > 0 THEN 1 ELSE -1 END), 0)
        FROM charge
        WHERE program_id = :program_id
        AND person_key <> :person_key
        AND person_key IN (
            -- The key of today, and those that spellings of it had in earlier versions.
            SELECT person_key FROM earlier_person_key WHERE earlier_key = :person_key
            UNION ALL SELECT earlier_key FROM earlier_person_key WHERE person_key = :person_key
            UNION ALL SELECT e.earlier_key FROM earlier_person_key AS e
            JOIN earlier_person_key AS t ON t.person_key = e.person_key
            WHERE t.earlier_key = :person_key)) AS paid_otherwise,
    (SELECT COALESCE(MAX(budget_step), 0) + 1
        FROM charge
        WHERE program_id = :program_id AND month = :month) AS budget_step,
    (SELECT COALESCE(MAX(partner_step), 0) + 1 FROM charge
        WHERE partner_campaign_id = :partner_campaign_id AND month = :month) AS partner_step,
    (SELECT COALESCE(MAX(person_step), 0) + 1 FROM charge
        WHERE program_id = :program_id AND person_key = :person_key) AS person_step;

-- name: open_budgets
-- Budgets of a program whose months are not closed.
SELECT month, spent_cents, reached_ms, reached_cents, overrun_cents, overrun_ms FROM budget AS g
WHERE account_id = :account_id AND program_id = :program_id
  AND NOT EXISTS (SELECT 1 FROM period AS m WHERE m.month = g.month AND m.closed_ms IS NOT NULL)
ORDER BY month;

-- name: mark_nearly
-- Record that the budget is nearly spent.
UPDATE budget SET nearly_ms = :now_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id AND nearly_ms IS NULL;

-- name: reopen_budget
-- Reaching it again is a new event to notify partners of.
UPDATE budget SET reached_ms = NULL, told_reached_ms = NULL, reached_cents = :full_cents,
    overrun_cents = :overrun_cents, overrun_ms = :overrun_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id;

-- name: spend_budget
-- Add a fee to what the budget has spent.
-- touches: changes budget
UPDATE budget
SET spent_cents = spent_cents + :fee_cents, nearly_ms = COALESCE(nearly_ms, CAST(:nearly_ms AS BIGINT))
WHERE program_id = :program_id AND month = :month AND account_id = :account_id;

-- name: spend_partner
-- Add a fee to what was spent on the partner.
-- touches: changes partner_spend
UPDATE partner_spend SET spent_cents = spent_cents + :fee_cents
WHERE partner_campaign_id = :partner_campaign_id AND month = :month AND account_id = :account_id;

-- name: reach_budget
-- touches: changes budget
-- It may be reached again at a higher limit, which is no news.
UPDATE budget SET reached_ms = COALESCE(reached_ms, :now_ms),
    times_reached = times_reached + CASE WHEN reached_ms IS NULL THEN 1 ELSE 0 END,
    reached_cents = :full_cents, overrun_cents = :overrun_cents, overrun_ms = :overrun_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id;

-- name: insert_charge
-- A charge or a reversal.
-- touches: adds charge
{insert charge:
    id, account_id, partner_account_id, program_id, partner_campaign_id, partner_referral_id, person_key,
    person_step, month, fee_cents, budget_step, budget_spent_cents, budget_cap_cents, partner_step,
    partner_spent_cents, partner_cap_cents, reverses_id, reversal_reason, created_ms = :now_ms
};

-- name: last_charge
-- The last charge of the program for a person.
SELECT id, month, fee_cents FROM charge
WHERE program_id = :program_id
  AND person_key = :person_key
  AND account_id = :account_id
  AND partner_referral_id = :id
ORDER BY person_step DESC
LIMIT 1;

-- name: mark_charged
-- The referral was charged.
-- touches: changes partner_referral
UPDATE partner_referral
SET charged_cents = :fee_cents, charged_month = :month, uncharged_reason = NULL, reversal_id = NULL,
    reversal_reason = NULL, reversal_note = NULL
WHERE account_id = :account_id AND id = :id;

-- name: mark_reversed
-- The charge of the referral was reversed.
-- touches: changes partner_referral
UPDATE partner_referral
SET charged_cents = NULL, charged_month = NULL, reversal_id = :reversal_id, reversal_reason = :reason,
    reversal_note = :note
WHERE account_id = :account_id AND id = :id;

-- name: mark_uncharged
-- The referral was not charged, and why.
-- touches: changes partner_referral
UPDATE partner_referral
SET charged_month = :month, uncharged_reason = :reason, reversal_id = NULL, reversal_reason = NULL,
    reversal_note = NULL
WHERE account_id = :account_id AND id = :id;
