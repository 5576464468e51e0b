-- name: last_closed
SELECT MAX(month) AS month FROM period WHERE closed_ms IS NOT NULL;

-- name: begin_month
INSERT INTO period (month) VALUES (:month) ON CONFLICT (month) DO NOTHING;

-- name: terms
-- The month and the owner's caps, neither of which may move until this charge is done.
SELECT m.month, m.closed_ms, p.total_budget_cents, p.max_payout_cents FROM period AS m, program AS p
WHERE m.month = :month AND p.id = :program_id AND p.account_id = :account_id;

-- name: terms (postgres)
SELECT m.month, m.closed_ms, p.total_budget_cents, p.max_payout_cents FROM period AS m, program AS p
WHERE m.month = :month AND p.id = :program_id AND p.account_id = :account_id FOR SHARE;

-- name: lock_budget
INSERT INTO budget (program_id, month, account_id, cap_cents) VALUES (:program_id, :month, :account_id, :cap_cents)
ON CONFLICT (program_id, month) DO UPDATE SET spent_cents = budget.spent_cents
RETURNING spent_cents, cap_cents, reached_ms;

-- name: lock_partner_spend
INSERT INTO partner_spend (partner_campaign_id, month, program_id, account_id, partner_account_id, cap_cents)
VALUES (:partner_campaign_id, :month, :program_id, :account_id, :partner_account_id, :cap_cents)
ON CONFLICT (partner_campaign_id, month) DO UPDATE SET spent_cents = partner_spend.spent_cents
RETURNING spent_cents, cap_cents, (SELECT COUNT(*) FROM charge WHERE program_id = :program_id AND person_key = :person_key) AS before;

-- name: spend_budget
UPDATE budget SET spent_cents = spent_cents + :fee_cents,
    reached_ms = CASE WHEN spent_cents + :fee_cents = cap_cents THEN CAST(:now_ms AS BIGINT) ELSE reached_ms END
WHERE program_id = :program_id AND month = :month AND account_id = :account_id AND spent_cents + :fee_cents <= cap_cents
  AND reached_ms IS NULL;

-- name: spend_partner
UPDATE partner_spend SET spent_cents = spent_cents + :fee_cents
WHERE partner_campaign_id = :partner_campaign_id AND month = :month AND account_id = :account_id
  AND spent_cents + :fee_cents <= cap_cents;

-- name: reach_budget
UPDATE budget SET reached_ms = :now_ms
WHERE program_id = :program_id AND month = :month AND account_id = :account_id AND reached_ms IS NULL;

-- name: insert_charge
INSERT INTO charge (id, account_id, partner_account_id, program_id, partner_campaign_id, partner_referral_id, person_key, month,
    fee_cents, created_ms)
VALUES (:id, :account_id, :partner_account_id, :program_id, :partner_campaign_id, :partner_referral_id, :person_key, :month,
    :fee_cents, :now_ms);

-- name: mark_charged
UPDATE partner_referral SET charged_cents = :fee_cents, charged_month = :month, uncharged_reason = NULL
WHERE account_id = :account_id AND id = :id;

-- name: mark_uncharged
UPDATE partner_referral SET charged_month = :month, uncharged_reason = :reason WHERE account_id = :account_id AND id = :id;
