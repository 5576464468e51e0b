-- Each statement counts what must not be. Run in one snapshot; all of them zero means that the books are right.

-- name: charges_without_transfer
SELECT COUNT(*) AS n FROM charge AS c WHERE NOT EXISTS (
    SELECT 1 FROM transfer AS t WHERE t.reference = 'charge:' || c.id AND t.kind = 'charge' AND t.amount_cents = c.fee_cents
      AND t.month = c.month AND t.debit = 'program:' || c.program_id || ':receivable'
      AND t.credit = 'partner:' || c.partner_account_id || ':payable'
);

-- name: transfers_without_charge
SELECT COUNT(*) AS n FROM transfer AS t WHERE t.kind = 'charge'
  AND NOT EXISTS (SELECT 1 FROM charge AS c WHERE t.reference = 'charge:' || c.id);

-- name: budgets_off
SELECT COUNT(*) AS n FROM budget AS g WHERE g.spent_cents <> COALESCE((
    SELECT SUM(c.fee_cents) FROM charge AS c WHERE c.program_id = g.program_id AND c.month = g.month), 0);

-- name: partner_spends_off
SELECT COUNT(*) AS n FROM partner_spend AS s WHERE s.spent_cents <> COALESCE((
    SELECT SUM(c.fee_cents) FROM charge AS c WHERE c.partner_campaign_id = s.partner_campaign_id AND c.month = s.month), 0);

-- name: charges_without_counter
SELECT COUNT(*) AS n FROM charge AS c WHERE NOT EXISTS (
    SELECT 1 FROM budget AS g WHERE g.program_id = c.program_id AND g.month = c.month)
   OR NOT EXISTS (SELECT 1 FROM partner_spend AS s WHERE s.partner_campaign_id = c.partner_campaign_id AND s.month = c.month);

-- name: caps_broken
SELECT (SELECT COUNT(*) FROM budget WHERE spent_cents > cap_cents)
     + (SELECT COUNT(*) FROM partner_spend WHERE spent_cents > cap_cents) AS n;

-- name: referrals_off
SELECT COUNT(*) AS n FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE (r.charged_cents IS NOT NULL AND (s.referral_status <> 'verified' OR r.uncharged_reason IS NOT NULL OR NOT EXISTS (
          SELECT 1 FROM charge AS c WHERE c.partner_referral_id = r.id AND c.fee_cents = r.charged_cents)))
   OR (s.referral_status = 'verified' AND r.charged_cents IS NULL AND r.uncharged_reason IS NULL);

-- name: own_charges
SELECT COUNT(*) AS n FROM charge WHERE account_id = partner_account_id;

-- name: payouts_off
SELECT COUNT(*) AS n FROM payout AS p WHERE p.amount_cents <> COALESCE((
    SELECT SUM(t.amount_cents) FROM transfer AS t
    WHERE t.month = p.month AND t.kind = 'charge' AND t.credit = 'partner:' || p.account_id || ':payable'), 0);

-- name: payouts_without_transfer
SELECT COUNT(*) AS n FROM payout AS p WHERE NOT EXISTS (
    SELECT 1 FROM transfer AS t WHERE t.reference = 'payout:' || p.id AND t.amount_cents = p.amount_cents);

-- name: earnings_without_payout
SELECT COUNT(*) AS n FROM transfer AS t JOIN period AS m ON m.month = t.month
WHERE t.kind = 'charge' AND m.paid_out_ms IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM payout AS p WHERE p.month = t.month AND t.credit = 'partner:' || p.account_id || ':payable');

-- name: paid_off
SELECT COUNT(*) AS n FROM payout AS p WHERE (CASE WHEN p.paid_ms IS NULL THEN 0 ELSE p.amount_cents END) <> COALESCE((
    SELECT SUM(CASE WHEN t.kind = 'paid' THEN t.amount_cents ELSE -t.amount_cents END) FROM transfer AS t
    WHERE t.kind IN ('paid', 'unpaid') AND t.reference LIKE 'paid:' || p.id || ':%' OR t.kind = 'unpaid' AND t.reference LIKE 'unpaid:' || p.id || ':%'), 0);

-- name: sums
SELECT COUNT(*) AS transfers, CAST(COALESCE(SUM(CASE WHEN kind = 'charge' THEN amount_cents ELSE 0 END), 0) AS BIGINT) AS charged_cents,
       CAST(COALESCE(SUM(CASE WHEN kind = 'payout' THEN amount_cents ELSE 0 END), 0) AS BIGINT) AS paid_out_cents
FROM transfer;
