-- Each statement counts errors, those with :after among the rows whose key is after it and up to :until. Zero
-- everywhere means that the ledger is right.

-- name: transfer_slice
-- The last key of a slice, nothing if it is the last slice; the same in those that follow.
SELECT id FROM transfer WHERE id > :after ORDER BY id LIMIT 1 OFFSET :rows;

-- name: charge_slice
-- Where the next slice of charges ends.
SELECT id FROM charge WHERE id > :after ORDER BY id LIMIT 1 OFFSET :rows;

-- name: referral_slice
-- Where the next slice of referrals ends.
SELECT id FROM partner_referral WHERE id > :after ORDER BY id LIMIT 1 OFFSET :rows;

-- name: program_slice
-- The program of a charge. All charges of a program are in one slice.
SELECT program_id FROM charge WHERE program_id > :after ORDER BY program_id LIMIT 1 OFFSET :rows;

-- name: month_slice
-- Where the next slice of months ends.
SELECT month FROM transfer WHERE month > :after ORDER BY month LIMIT 1 OFFSET :rows;

-- fragment: of_programs
program_id > :after AND program_id <= :until

-- name: entries_off
-- The two entries of a transfer sum to zero if it moves a positive amount between two accounts of its kind.
SELECT COUNT(*) AS n FROM transfer
WHERE id > :after AND id <= :until AND (amount_cents <= 0 OR debit = credit OR NOT (
       kind = 'charge' AND debit LIKE 'program:%:receivable' AND credit LIKE 'partner:%:payable'
    OR kind = 'reversal' AND debit LIKE 'partner:%:payable' AND credit LIKE 'program:%:receivable'
    OR kind = 'payout' AND debit LIKE 'partner:%:payable' AND credit = 'payout:clearing'
    OR kind = 'paid' AND debit = 'payout:clearing' AND credit = 'cash'
    OR kind = 'unpaid' AND debit = 'cash' AND credit = 'payout:clearing'));

-- name: charges_without_transfer
-- Charges without the ledger entry that they should have.
SELECT COUNT(*) AS n FROM charge AS c
LEFT JOIN transfer AS t ON t.reference = CASE WHEN c.fee_cents > 0 THEN 'charge:' ELSE 'reversal:' END || c.id
WHERE c.id > :after AND c.id <= :until
  AND (t.id IS NULL
   OR t.kind || ':' || c.id <> t.reference
   OR t.amount_cents <> ABS(c.fee_cents)
   OR t.month <> c.month
   OR CASE WHEN c.fee_cents > 0 THEN t.debit ELSE t.credit END <> 'program:' || c.program_id || ':receivable'
   OR CASE
       WHEN c.fee_cents > 0 THEN t.credit
       ELSE t.debit
       END <> 'partner:' || c.partner_account_id || ':payable');

-- name: transfers_without_charge
-- Ledger entries without the charge that they are for.
SELECT COUNT(*) AS n FROM transfer AS t
LEFT JOIN charge AS c ON c.id = SUBSTR(t.reference, LENGTH(t.kind) + 2)
WHERE t.id > :after AND t.id <= :until AND t.kind IN ('charge', 'reversal')
  AND (c.id IS NULL OR t.reference <> t.kind || ':' || c.id OR (t.kind = 'charge') <> (c.fee_cents > 0));

-- name: reversals_off
-- Reversals that do not match their charge.
SELECT COUNT(*) AS n FROM charge AS v LEFT JOIN charge AS c ON c.id = v.reverses_id
WHERE v.id > :after AND v.id <= :until AND v.fee_cents < 0
  AND (c.id IS NULL
   OR c.fee_cents <> -v.fee_cents
   OR c.month <> v.month
   OR c.partner_referral_id <> v.partner_referral_id
   OR c.program_id <> v.program_id
   OR c.partner_campaign_id <> v.partner_campaign_id
   OR c.account_id <> v.account_id
   OR c.partner_account_id <> v.partner_account_id
   OR c.person_key <> v.person_key
   OR v.person_step <> c.person_step + 1);

-- name: budgets_off
-- Budgets that are not the sum of their charges.
SELECT COUNT(*) AS n FROM (
    SELECT program_id FROM (
        SELECT program_id, month, account_id, fee_cents AS cents FROM charge WHERE {of_programs}
        UNION ALL SELECT program_id, month, account_id, -spent_cents AS cents FROM budget WHERE {of_programs}
    ) AS both_sides GROUP BY program_id, month, account_id HAVING SUM(cents) <> 0
) AS wrong;

-- name: budgets_not_reached
-- Budgets marked as reached that were not.
SELECT COUNT(*) AS n FROM budget AS g JOIN program AS p ON p.id = g.program_id
WHERE g.reached_ms IS NULL AND g.spent_cents > 0 AND g.spent_cents >= p.total_budget_cents
  AND NOT EXISTS (SELECT 1 FROM period AS m WHERE m.month = g.month AND m.closed_ms IS NOT NULL);

-- name: partner_spends_off
-- Spendings on partners that are not the sum of their charges.
SELECT COUNT(*) AS n FROM (
    SELECT partner_campaign_id FROM (
        SELECT partner_campaign_id, month, program_id, partner_account_id, fee_cents AS cents
        FROM charge
        WHERE {of_programs}
        UNION ALL SELECT partner_campaign_id, month, program_id, partner_account_id, -spent_cents AS cents
        FROM partner_spend
            WHERE {of_programs}
    ) AS both_sides GROUP BY partner_campaign_id, month, program_id, partner_account_id HAVING SUM(cents) <> 0
) AS wrong;

-- name: budget_steps_off
-- Charges whose step of the budget does not follow from the one before.
SELECT COUNT(*) AS n FROM (
    SELECT fee_cents, budget_step AS step, budget_spent_cents AS spent_cents, budget_cap_cents AS cap_cents,
           LAG(budget_spent_cents, 1, 0) OVER (PARTITION BY program_id, month
               ORDER BY budget_step) AS before_cents,
           ROW_NUMBER() OVER (PARTITION BY program_id, month ORDER BY budget_step) AS number
    FROM charge WHERE {of_programs}
) AS s
WHERE step <> number
   OR spent_cents <> before_cents + fee_cents
   OR (fee_cents > 0 AND spent_cents > cap_cents);

-- name: partner_steps_off
-- Charges whose step of the partner does not follow from the one before.
SELECT COUNT(*) AS n FROM (
    SELECT fee_cents, partner_step AS step, partner_spent_cents AS spent_cents,
           partner_cap_cents AS cap_cents,
           LAG(partner_spent_cents, 1, 0) OVER (PARTITION BY partner_campaign_id, month
               ORDER BY partner_step) AS before_cents,
           ROW_NUMBER() OVER (PARTITION BY partner_campaign_id, month ORDER BY partner_step) AS number
    FROM charge WHERE {of_programs}
) AS s
WHERE step <> number
   OR spent_cents <> before_cents + fee_cents
   OR (fee_cents > 0 AND spent_cents > cap_cents);

-- name: charges_below_arrival
-- Charges of less than was promised when the referral arrived.
SELECT COUNT(*) AS n FROM charge AS c JOIN partner_referral AS r ON r.id = c.partner_referral_id
WHERE c.id > :after
  AND c.id <= :until
  AND (c.budget_cap_cents < r.budget_cents OR c.partner_cap_cents < r.cap_cents);

-- name: charges_without_referral
-- A charge that was reversed is no longer what its referral costs.
SELECT COUNT(*) AS n FROM charge AS c LEFT JOIN partner_referral AS r ON r.id = c.partner_referral_id
LEFT JOIN charge AS v ON v.reverses_id = c.id
WHERE c.id > :after
  AND c.id <= :until
  AND (r.id IS NULL OR r.fee_cents <> ABS(c.fee_cents) OR r.person_key <> c.person_key
   OR (c.fee_cents > 0 AND v.id IS NULL AND (r.charged_cents IS NULL OR r.charged_cents <> c.fee_cents
       OR r.charged_month IS NULL OR r.charged_month <> c.month OR r.uncharged_reason IS NOT NULL))
   OR r.program_id <> c.program_id
   OR r.partner_campaign_id <> c.partner_campaign_id
   OR r.account_id <> c.account_id
   OR r.partner_account_id <> c.partner_account_id);

-- name: charges_unconfirmed
-- Earlier versions did not wait for a confirmation; migration 0050 kept the last charge of theirs.
SELECT COUNT(*) AS n FROM charge AS c JOIN partner_referral AS r ON r.id = c.partner_referral_id
JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE c.id > :after
  AND c.id <= :until
  AND s.must_confirm = 1
  AND r.charged_cents IS NOT NULL
  AND COALESCE(s.referral_reason, '') <> 'verified_by_hand'
  AND c.id > COALESCE((SELECT value FROM instance WHERE name = 'last_charge_before_confirmations'), '');

-- name: referrals_off
-- Paid referrals that do not match their subscriber or charge.
SELECT COUNT(*) AS n FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
LEFT JOIN charge AS v ON v.id = r.reversal_id AND v.partner_referral_id = r.id AND v.fee_cents < 0
WHERE r.id > :after AND r.id <= :until
  AND ((COALESCE(s.referral_reason, '') = 'reversed') <> (v.id IS NOT NULL)
   OR (r.reversal_id IS NULL) <> (v.id IS NULL)
   OR COALESCE(r.reversal_reason, '') <> COALESCE(v.reversal_reason, '')
   OR (r.reversal_id IS NULL AND r.reversal_note IS NOT NULL)
   OR (s.referral_status = 'verified') <> (r.charged_month IS NOT NULL)
   OR (s.referral_status = 'pending') <> (r.decided_ms IS NULL)
   OR (r.charged_month IS NOT NULL) <> (r.charged_cents IS NOT NULL OR r.uncharged_reason IS NOT NULL)
   OR (r.charged_cents IS NOT NULL AND r.uncharged_reason IS NOT NULL));

-- name: referrals_charged
-- Together with `charges_without_referral`, equal numbers mean that each charged referral has exactly one
-- charge that counts.
SELECT ABS((SELECT COUNT(*) FROM partner_referral WHERE charged_cents IS NOT NULL)
         - (SELECT COALESCE(SUM(CASE WHEN fee_cents > 0 THEN 1 ELSE -1 END), 0) FROM charge)) AS n;

-- name: people_twice
-- People who were charged twice, and charges to oneself.
SELECT (SELECT COUNT(*) FROM charge WHERE {of_programs} AND account_id = partner_account_id)
     + (SELECT COUNT(*) FROM (
            SELECT program_id FROM charge WHERE {of_programs} GROUP BY program_id, person_key
            HAVING SUM(CASE WHEN fee_cents > 0 THEN 1 ELSE -1 END) NOT IN (0, 1)
               OR MAX(person_step) <> COUNT(*)
        ) AS twice) AS n;

-- name: payouts_off
-- While the payouts of a month are being made, some may be missing. Those that exist must be right.
SELECT COUNT(*) AS n FROM (
    SELECT payable FROM (
        SELECT CASE t.kind WHEN 'charge' THEN t.credit ELSE t.debit END AS payable, t.month,
               CASE t.kind WHEN 'charge' THEN t.amount_cents ELSE -t.amount_cents END AS cents,
               CASE WHEN m.paid_out_ms IS NULL THEN 0 ELSE 1 END AS complete
        FROM transfer AS t LEFT JOIN period AS m ON m.month = t.month
        WHERE t.month > :after AND t.month <= :until AND t.kind IN ('charge', 'reversal')
        UNION ALL SELECT 'partner:' || account_id || ':payable' AS payable, month, -amount_cents AS cents,
            1 AS complete
        FROM payout
        WHERE month > :after AND month <= :until
    ) AS both_sides GROUP BY payable, month HAVING SUM(cents) <> 0 AND MAX(complete) = 1
) AS wrong;

-- name: payouts_open
-- Payouts of months that are not closed.
SELECT COUNT(*) AS n FROM payout AS p LEFT JOIN period AS m ON m.month = p.month WHERE m.closed_ms IS NULL;

-- name: payout_transfers_off
-- Payouts that do not match the ledger.
SELECT (SELECT COUNT(*) FROM payout AS p LEFT JOIN transfer AS t ON t.reference = 'payout:' || p.id
        WHERE t.id IS NULL OR t.kind <> 'payout' OR t.amount_cents <> p.amount_cents
           OR t.debit <> 'partner:' || p.account_id || ':payable' OR t.month <= p.month)
     + (SELECT COUNT(*) FROM transfer AS t LEFT JOIN payout AS p ON p.id = SUBSTR(t.reference, 8)
        WHERE t.kind = 'payout' AND (p.id IS NULL OR t.reference <> 'payout:' || p.id)) AS n;

-- name: paid_off
-- The reference of a mark is its kind, the payout (36 characters) and a number.
SELECT COUNT(*) AS n FROM (
    SELECT payout_id FROM (
        SELECT SUBSTR(reference, 6, 36) AS payout_id, amount_cents AS cents, 1 AS marks
        FROM transfer
        WHERE kind = 'paid'
        UNION ALL SELECT SUBSTR(reference, 8, 36), -amount_cents, 1 FROM transfer WHERE kind = 'unpaid'
        UNION ALL SELECT id, CASE WHEN paid_ms IS NULL THEN 0 ELSE -amount_cents END, -marks FROM payout
    ) AS both_sides GROUP BY payout_id HAVING SUM(cents) <> 0 OR SUM(marks) <> 0
) AS wrong;

-- name: sums
-- The sums of the whole ledger.
SELECT COUNT(*) AS transfers,
       CAST(COALESCE(SUM(CASE kind
                       WHEN 'charge' THEN amount_cents
                       WHEN 'reversal' THEN -amount_cents
                       ELSE 0
                       END),
               0)
           AS BIGINT) AS charged_cents,
       CAST(COALESCE(SUM(CASE WHEN kind = 'payout' THEN amount_cents ELSE 0 END),
               0) AS BIGINT) AS paid_out_cents
FROM transfer;
