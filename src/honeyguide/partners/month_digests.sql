-- fragment: charge
c.created_ms, c.id, c.account_id, c.partner_account_id, c.program_id, c.partner_campaign_id,
c.partner_referral_id, c.person_key,
c.person_step, c.month, c.fee_cents, c.budget_step, c.budget_spent_cents, c.budget_cap_cents,
c.partner_step, c.partner_spent_cents,
c.partner_cap_cents, c.reverses_id, c.reversal_reason

-- fragment: transfer
t.id AS transfer_id, t.kind, t.reference, t.debit, t.credit, t.amount_cents, t.month AS transfer_month,
t.created_ms AS transfer_ms

-- fragment: with_transfer
charge AS c
    LEFT JOIN transfer AS t ON t.reference = CASE
        WHEN c.fee_cents > 0 THEN 'charge:'
        ELSE 'reversal:'
        END || c.id

-- name: charges_of_owner
-- Charges of an owner in a month, in the order in which the digest covers them.
SELECT {charge}, {transfer} FROM {with_transfer}
WHERE c.account_id = :account_id AND c.month = :month AND (c.created_ms, c.id) > (:after_ms, :after_id)
ORDER BY c.created_ms, c.id
LIMIT :batch;

-- name: charges_of_partner
-- Charges for a partner in a month, in the same order.
SELECT {charge}, {transfer} FROM {with_transfer}
WHERE c.partner_account_id = :account_id
  AND c.month = :month
  AND (c.created_ms, c.id) > (:after_ms, :after_id)
ORDER BY c.created_ms, c.id
LIMIT :batch;

-- name: other_transfers
-- All that concern the account and belong to none of its charges: payouts and their marks, and whatever
-- somebody may have added. Each part has an index.
SELECT {transfer} FROM transfer AS t WHERE t.month = :month AND t.id IN (
    SELECT d.id FROM transfer AS d
    WHERE d.month = :month AND d.debit = 'partner:' || CAST(:account_id AS TEXT) || ':payable'
    UNION SELECT d.id
    FROM transfer AS d
    WHERE d.month = :month AND d.kind IN ('charge', 'reversal', 'payout', 'paid', 'unpaid')
        AND d.credit = 'partner:' || CAST(:account_id AS TEXT) || ':payable'
    UNION SELECT d.id
    FROM program AS p
    JOIN transfer AS d ON d.month = :month AND d.debit = 'program:' || p.id || ':receivable'
        WHERE p.account_id = :account_id
    UNION SELECT d.id FROM program AS p JOIN transfer AS d ON d.month = :month
        AND d.kind IN ('charge', 'reversal', 'payout', 'paid', 'unpaid')
        AND d.credit = 'program:' || p.id || ':receivable'
        WHERE p.account_id = :account_id
    UNION SELECT d.id
    FROM payout AS p
    JOIN transfer AS d ON d.reference = 'payout:' || p.id
    WHERE p.account_id = :account_id
    UNION SELECT d.id
    FROM payout AS p
    JOIN transfer AS d ON d.reference > 'paid:' || p.id || ':' AND d.reference < 'paid:' || p.id || ';'
        WHERE p.account_id = :account_id
    UNION SELECT d.id FROM payout AS p
        JOIN transfer AS d ON d.reference > 'unpaid:' || p.id || ':'
          AND d.reference < 'unpaid:' || p.id || ';'
        WHERE p.account_id = :account_id
) AND NOT EXISTS (
    SELECT 1 FROM charge AS c WHERE c.id = SUBSTR(t.reference, LENGTH(t.kind) + 2) AND c.month = :month
    AND t.reference = CASE WHEN c.fee_cents > 0 THEN 'charge:' ELSE 'reversal:' END || c.id
    AND :account_id IN (c.account_id, c.partner_account_id)
) ORDER BY t.id;

-- name: undigested_month
-- The newest closed month without digests.
SELECT MAX(month) AS month FROM period WHERE closed_ms IS NOT NULL AND digested_ms IS NULL;

-- name: accounts_without
-- For all accounts that were there in this month.
SELECT a.id FROM account AS a WHERE a.created_ms < :until_ms
  AND NOT EXISTS (SELECT 1 FROM month_digest AS d WHERE d.account_id = a.id AND d.month >= :month)
ORDER BY a.id
LIMIT :most;

-- name: months_without
-- The closed months after the account's last digest.
SELECT m.month FROM period AS m WHERE m.closed_ms IS NOT NULL AND m.month > :after ORDER BY m.month;

-- name: opened_ms
-- When the account was opened.
SELECT created_ms FROM account WHERE id = :account_id;

-- name: finish
-- Record that a month has all its digests.
UPDATE period
SET digested_ms = :now_ms
WHERE closed_ms IS NOT NULL AND digested_ms IS NULL AND month <= :month;

-- name: insert
-- The digest of an account's month.
{insert month_digest: account_id, month, previous, ledger, log, digest, until_ms, made_ms = :now_ms}
ON CONFLICT (account_id, month) DO NOTHING;

-- fragment: digest
account_id, month, previous, ledger, log, digest, until_ms, made_ms

-- name: last
-- The newest digest of the account.
SELECT {digest} FROM month_digest WHERE account_id = :account_id ORDER BY month DESC LIMIT 1;

-- name: of_month
-- The digest of a month.
SELECT {digest} FROM month_digest WHERE account_id = :account_id AND month = :month;

-- name: before
-- The digest before that of a month.
SELECT {digest} FROM month_digest
WHERE account_id = :account_id AND month < :month
ORDER BY month DESC
LIMIT 1;

-- name: of_account
-- All digests of the account, in their order.
SELECT {digest} FROM month_digest WHERE account_id = :account_id ORDER BY month;

-- name: slice
-- Over all accounts, for the check.
SELECT {digest} FROM month_digest
WHERE (account_id, month) > (:after_account, :after_month)
ORDER BY account_id, month
LIMIT :batch;
