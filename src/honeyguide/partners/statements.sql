-- Every referral behind a month's money. A page of them at a time, in the order they were charged.

-- name: of_partner
-- Charges of a month that a partner earned from.
SELECT c.id, c.created_ms, b.name AS publication_name, c.partner_referral_id, r.arrived_ms, c.fee_cents,
       '' AS person, '' AS partner_name,
       c.reversal_reason, CASE WHEN r.reversal_id = c.id THEN r.reversal_note END AS reversal_note
FROM charge AS c
JOIN partner_referral AS r ON r.id = c.partner_referral_id
JOIN program AS p ON p.id = c.program_id
JOIN publication AS b ON b.id = p.publication_id
WHERE c.partner_account_id = :account_id
  AND c.month = :month
  AND (c.created_ms, c.id) > (:after_ms, :after_id)
ORDER BY c.created_ms, c.id
LIMIT :batch;

-- name: of_owner
-- Charges of a month that an owner has to pay.
SELECT c.id, c.created_ms, b.name AS publication_name, c.partner_referral_id, r.arrived_ms, c.fee_cents,
       COALESCE(s.email, '') AS person, COALESCE(a.name, a.email) AS partner_name,
       c.reversal_reason, CASE WHEN r.reversal_id = c.id THEN r.reversal_note END AS reversal_note
FROM charge AS c
JOIN partner_referral AS r ON r.id = c.partner_referral_id
JOIN program AS p ON p.id = c.program_id
JOIN publication AS b ON b.id = p.publication_id JOIN subscriber AS s ON s.id = r.subscriber_id
JOIN account AS a ON a.id = c.partner_account_id
WHERE c.account_id = :account_id AND c.month = :month AND (c.created_ms, c.id) > (:after_ms, :after_id)
ORDER BY c.created_ms, c.id
LIMIT :batch;

-- name: months_of_owner
-- Months in which an owner spent something.
SELECT g.month, CAST(SUM(g.spent_cents) AS BIGINT) AS cents FROM program AS p
JOIN budget AS g ON g.program_id = p.id
WHERE p.account_id = :account_id AND g.spent_cents > 0
GROUP BY g.month
ORDER BY g.month DESC
LIMIT :most;

-- name: total_of_partner
-- What a partner earned in a month.
SELECT CAST(COALESCE(SUM(fee_cents), 0) AS BIGINT) AS cents FROM charge
WHERE partner_account_id = :account_id AND month = :month;

-- name: total_of_owner
-- What an owner has to pay for a month.
SELECT CAST(COALESCE(SUM(fee_cents), 0) AS BIGINT) AS cents FROM charge
WHERE account_id = :account_id AND month = :month;
