-- Each statement counts errors, in one snapshot. Zero everywhere means that the ledger is right.

-- name: entries_off
-- The two entries of a transfer sum to zero if it moves a positive amount between two accounts of its kind.
SELECT COUNT(*) AS n FROM transfer WHERE amount_cents <= 0 OR debit = credit OR NOT (
       kind = 'charge' AND debit LIKE 'program:%:receivable' AND credit LIKE 'partner:%:payable'
    OR kind = 'payout' AND debit LIKE 'partner:%:payable' AND credit = 'payout:clearing'
    OR kind = 'paid' AND debit = 'payout:clearing' AND credit = 'cash'
    OR kind = 'unpaid' AND debit = 'cash' AND credit = 'payout:clearing');

-- name: charges_without_transfer
SELECT COUNT(*) AS n FROM charge AS c LEFT JOIN transfer AS t ON t.reference = 'charge:' || c.id
WHERE t.id IS NULL OR t.kind <> 'charge' OR t.amount_cents <> c.fee_cents OR t.month <> c.month
   OR t.debit <> 'program:' || c.program_id || ':receivable' OR t.credit <> 'partner:' || c.partner_account_id || ':payable';

-- name: transfers_without_charge
SELECT COUNT(*) AS n FROM transfer AS t LEFT JOIN charge AS c ON c.id = SUBSTR(t.reference, 8)
WHERE t.kind = 'charge' AND (c.id IS NULL OR t.reference <> 'charge:' || c.id);

-- name: budgets_off
SELECT COUNT(*) AS n FROM (
    SELECT program_id FROM (
        SELECT program_id, month, account_id, fee_cents AS cents FROM charge
        UNION ALL SELECT program_id, month, account_id, -spent_cents AS cents FROM budget
    ) AS both_sides GROUP BY program_id, month, account_id HAVING SUM(cents) <> 0
) AS wrong;

-- name: budgets_not_reached
SELECT COUNT(*) AS n FROM budget AS g JOIN program AS p ON p.id = g.program_id
WHERE g.reached_ms IS NULL AND g.spent_cents > 0 AND g.spent_cents >= p.total_budget_cents
  AND NOT EXISTS (SELECT 1 FROM period AS m WHERE m.month = g.month AND m.closed_ms IS NOT NULL);

-- name: partner_spends_off
SELECT COUNT(*) AS n FROM (
    SELECT partner_campaign_id FROM (
        SELECT partner_campaign_id, month, program_id, partner_account_id, fee_cents AS cents FROM charge
        UNION ALL SELECT partner_campaign_id, month, program_id, partner_account_id, -spent_cents AS cents FROM partner_spend
    ) AS both_sides GROUP BY partner_campaign_id, month, program_id, partner_account_id HAVING SUM(cents) <> 0
) AS wrong;

-- name: budget_steps_off
SELECT COUNT(*) AS n FROM (
    SELECT fee_cents, budget_spent_cents AS spent_cents, budget_cap_cents AS cap_cents,
           LAG(budget_spent_cents, 1, 0) OVER (PARTITION BY program_id, month ORDER BY budget_spent_cents) AS before_cents
    FROM charge
) AS step WHERE spent_cents <> before_cents + fee_cents OR spent_cents > cap_cents;

-- name: partner_steps_off
SELECT COUNT(*) AS n FROM (
    SELECT fee_cents, partner_spent_cents AS spent_cents, partner_cap_cents AS cap_cents,
           LAG(partner_spent_cents, 1, 0) OVER (PARTITION BY partner_campaign_id, month ORDER BY partner_spent_cents) AS before_cents
    FROM charge
) AS step WHERE spent_cents <> before_cents + fee_cents OR spent_cents > cap_cents;

-- name: charges_without_referral
SELECT COUNT(*) AS n FROM charge AS c LEFT JOIN partner_referral AS r ON r.id = c.partner_referral_id
WHERE r.id IS NULL OR r.charged_cents IS NULL OR r.charged_cents <> c.fee_cents OR r.fee_cents <> c.fee_cents
   OR r.charged_month IS NULL OR r.charged_month <> c.month OR r.uncharged_reason IS NOT NULL OR r.person_key <> c.person_key
   OR r.program_id <> c.program_id OR r.partner_campaign_id <> c.partner_campaign_id OR r.account_id <> c.account_id
   OR r.partner_account_id <> c.partner_account_id;

-- name: referrals_off
-- Together with the check before, equal numbers mean that each charged referral has exactly one charge.
SELECT (SELECT COUNT(*) FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
        WHERE (s.referral_status = 'verified') <> (r.charged_month IS NOT NULL)
           OR (s.referral_status = 'pending') <> (r.decided_ms IS NULL)
           OR (r.charged_month IS NOT NULL) <> (r.charged_cents IS NOT NULL OR r.uncharged_reason IS NOT NULL)
           OR (r.charged_cents IS NOT NULL AND r.uncharged_reason IS NOT NULL))
     + ABS((SELECT COUNT(*) FROM partner_referral WHERE charged_cents IS NOT NULL) - (SELECT COUNT(*) FROM charge)) AS n;

-- name: people_twice
SELECT (SELECT COUNT(*) FROM charge WHERE account_id = partner_account_id)
     + (SELECT COUNT(*) FROM (SELECT program_id FROM charge GROUP BY program_id, person_key HAVING COUNT(*) > 1) AS twice) AS n;

-- name: payouts_off
-- While the payouts of a month are being made, some may be missing. Those that exist must be right.
SELECT COUNT(*) AS n FROM (
    SELECT credit FROM (
        SELECT t.credit, t.month, t.amount_cents AS cents, CASE WHEN m.paid_out_ms IS NULL THEN 0 ELSE 1 END AS complete
        FROM transfer AS t LEFT JOIN period AS m ON m.month = t.month WHERE t.kind = 'charge'
        UNION ALL SELECT 'partner:' || account_id || ':payable' AS credit, month, -amount_cents AS cents, 1 AS complete FROM payout
    ) AS both_sides GROUP BY credit, month HAVING SUM(cents) <> 0 AND MAX(complete) = 1
) AS wrong;

-- name: payouts_open
SELECT COUNT(*) AS n FROM payout AS p LEFT JOIN period AS m ON m.month = p.month WHERE m.closed_ms IS NULL;

-- name: payout_transfers_off
SELECT (SELECT COUNT(*) FROM payout AS p LEFT JOIN transfer AS t ON t.reference = 'payout:' || p.id
        WHERE t.id IS NULL OR t.kind <> 'payout' OR t.amount_cents <> p.amount_cents
           OR t.debit <> 'partner:' || p.account_id || ':payable' OR t.month <= p.month)
     + (SELECT COUNT(*) FROM transfer AS t LEFT JOIN payout AS p ON p.id = SUBSTR(t.reference, 8)
        WHERE t.kind = 'payout' AND (p.id IS NULL OR t.reference <> 'payout:' || p.id)) AS n;

-- name: paid_off
-- The reference of a mark is its kind, the payout (36 characters) and a number.
SELECT COUNT(*) AS n FROM (
    SELECT payout_id FROM (
        SELECT SUBSTR(reference, 6, 36) AS payout_id, amount_cents AS cents, 1 AS marks FROM transfer WHERE kind = 'paid'
        UNION ALL SELECT SUBSTR(reference, 8, 36), -amount_cents, 1 FROM transfer WHERE kind = 'unpaid'
        UNION ALL SELECT id, CASE WHEN paid_ms IS NULL THEN 0 ELSE -amount_cents END, -marks FROM payout
    ) AS both_sides GROUP BY payout_id HAVING SUM(cents) <> 0 OR SUM(marks) <> 0
) AS wrong;

-- name: sums
SELECT COUNT(*) AS transfers, CAST(COALESCE(SUM(CASE WHEN kind = 'charge' THEN amount_cents ELSE 0 END), 0) AS BIGINT) AS charged_cents,
       CAST(COALESCE(SUM(CASE WHEN kind = 'payout' THEN amount_cents ELSE 0 END), 0) AS BIGINT) AS paid_out_cents
FROM transfer;
