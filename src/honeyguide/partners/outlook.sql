-- What may still be charged for pending referrals, and until when, with the budgets and caps that hold it.
-- Referrals to the partner's own program are never charged, and those that are as good as rejected neither,
-- so both are left out. So is whoever the program has paid for already, unless so many are pending in it that
-- only days are read.

-- fragment: owned
-- One program, or all: of the deleted ones, those that were charged since the month began or still may be.
IN (SELECT o.id
    FROM program AS o
    JOIN publication AS u ON u.id = o.publication_id
    WHERE o.account_id = :account_id
    AND (o.id = :program_id
     OR (CAST(:program_id AS TEXT) = '' AND (o.deleted_ms IS NULL AND u.deleted_ms IS NULL
        OR EXISTS (SELECT 1
            FROM budget AS h
            WHERE h.program_id = o.id AND h.month >= :month AND h.spent_cents > 0)
        OR EXISTS (SELECT 1 FROM partner_referral AS w
                   WHERE w.account_id = :account_id AND w.program_id = o.id AND w.decided_ms IS NULL)))))

-- fragment: joined
-- Those in which the partner has something pending.
IN (SELECT o.program_id
    FROM partner_referral AS o
    WHERE o.partner_account_id = :account_id AND o.decided_ms IS NULL)

-- fragment: large
-- The programs in which so many are pending that they are read by days.
WITH large AS MATERIALIZED (
    SELECT r.program_id FROM partner_referral AS r WHERE r.decided_ms IS NULL AND r.program_id

-- fragment: larger
    GROUP BY r.program_id HAVING COUNT(*) > :most
)

-- fragment: fees
-- Those of one day are one row in the programs of `large`. `undated` has the reasons that end without a
-- charge on their date.
-- What is overdue can be verified now.
SELECT f.partner_campaign_id, f.fee_cents, f.is_waiting,
       MIN(CASE WHEN f.due_ms > :now_ms THEN f.due_ms ELSE :now_ms END) AS due_ms, MIN(f.id) AS first_id,
       COUNT(*) AS n, f.budget_cents, f.cap_cents, MIN(f.arrived_ms) AS arrived_ms,
       MAX(f.deadline_ms) AS deadline_ms, MIN(f.referral_id) AS referral_id, f.program_id,
       f.partner_account_id
FROM (
    SELECT r.program_id, r.partner_campaign_id, r.partner_account_id, r.fee_cents, r.budget_cents,
           r.cap_cents, r.arrived_ms, r.subscriber_id AS id, r.id AS referral_id,
           CASE WHEN r.program_id IN (SELECT program_id FROM large) THEN '' ELSE r.subscriber_id END AS alone,
           CASE WHEN s.referral_due_ms IS NULL
               OR s.referral_reason = 'awaiting_confirmation'
               OR s.referral_reason {in :undated}
               THEN 1 ELSE 0 END AS is_waiting,
           CASE WHEN s.referral_reason {in :undated} THEN r.hold_until_ms
               ELSE s.referral_due_ms END AS due_ms,
           -- Who has to confirm has 30 days in programs with a rule; in others, any time.
           CASE WHEN s.referral_reason {in :undated} THEN COALESCE(s.referral_due_ms, 0)
               WHEN s.referral_reason = 'awaiting_confirmation' AND r.rule IS NOT NULL
               THEN r.arrived_ms + 2592000000
               WHEN s.referral_reason = 'awaiting_confirmation' OR s.referral_due_ms IS NULL
               THEN 9007199254740991 ELSE 0 END AS deadline_ms
    FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
    WHERE r.decided_ms IS NULL AND r.is_own = 0 AND r.fee_cents > 0
      AND COALESCE(s.referral_reason, '') <> 'partner_removed'
      -- The last step for this person: a charge, or the reversal of one. The order makes PostgreSQL take the
      -- index on the person.
      AND (r.program_id IN (SELECT program_id FROM large) OR COALESCE((SELECT c.fee_cents FROM charge AS c
          WHERE c.program_id = r.program_id AND c.person_key = r.person_key
          ORDER BY c.person_step DESC
          LIMIT 1), 0) <= 0)
      AND r.program_id

-- fragment: grouped
) AS f
GROUP BY f.program_id, f.partner_campaign_id, f.partner_account_id, f.fee_cents, f.is_waiting,
    COALESCE(f.due_ms, 0) / 86400000, f.budget_cents, f.cap_cents, f.alone

-- fragment: budgets
SELECT p.total_budget_cents, p.max_payout_cents, COALESCE(g.spent_cents, 0) AS spent_cents, g.reached_ms,
       COALESCE(g.reached_cents, -1) AS reached_cents, COALESCE(g.overrun_cents, -1) AS overrun_cents,
       COALESCE(g.overrun_ms, 0) AS overrun_ms,
       p.id AS program_id, b.name AS publication_name, p.cpa_cents, g.month,
       COALESCE(p.deleted_ms, b.deleted_ms) AS deleted_ms,
       CASE WHEN b.status = 'active' THEN b.enabled_partner_program ELSE 0 END AS is_on,
       s.partner_campaign_id, COALESCE(s.spent_cents, 0) AS partner_spent_cents
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month >= :month
LEFT JOIN partner_spend AS s ON s.program_id = g.program_id AND s.month = g.month
WHERE p.id

-- name: fees_of_owner
-- Fees that an owner may have to pay.
{large} {owned} {larger}
{fees} {owned} {grouped};

-- name: budgets_of_owner
-- Budgets of an owner's programs, and what was spent on each partner.
{budgets} {owned} ORDER BY p.created_ms, p.id;

-- name: fees_of_partner
-- Fees that a partner may get, and those before them.
{large} {joined} {larger}
{fees} {joined} {grouped};

-- name: budgets_of_partner
-- Budgets of the programs of a partner, and what was spent on each partner.
{budgets} {joined} ORDER BY p.created_ms, p.id;
