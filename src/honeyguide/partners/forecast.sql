-- name: budget
SELECT spent_cents, cap_cents, reached_ms FROM budget WHERE account_id = :account_id AND program_id = :program_id AND month = :month;

-- name: pending_of_program
-- What waits in a hold, by partner and by the month in which it ripens.
SELECT r.partner_campaign_id, COUNT(*) AS n, CAST(SUM(r.fee_cents) AS BIGINT) AS cents, MIN(s.referral_due_ms) AS first_due_ms
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.account_id = :account_id AND r.program_id = :program_id AND r.decided_ms IS NULL AND s.referral_status = 'pending'
  AND s.erased_ms IS NULL AND r.partner_account_id <> r.account_id AND COALESCE(s.referral_due_ms, 0) < :due_before_ms
GROUP BY r.partner_campaign_id;

-- name: uncharged_of_program
SELECT COUNT(*) AS n FROM partner_referral
WHERE account_id = :account_id AND program_id = :program_id AND uncharged_reason IS NOT NULL AND charged_month = :month;

-- name: partners_of_program
SELECT j.id AS partner_campaign_id, COALESCE(a.name, a.email) AS name, COALESCE(s.spent_cents, 0) AS spent_cents
FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
WHERE j.owner_account_id = :account_id AND j.program_id = :program_id ORDER BY spent_cents DESC, j.created_ms, j.id;

-- name: pending_of_partner
SELECT r.partner_campaign_id, COUNT(*) AS n, CAST(SUM(r.fee_cents) AS BIGINT) AS cents, MIN(s.referral_due_ms) AS first_due_ms
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.partner_account_id = :account_id AND r.decided_ms IS NULL AND s.referral_status = 'pending' AND s.erased_ms IS NULL
  AND r.partner_account_id <> r.account_id AND COALESCE(s.referral_due_ms, 0) < :due_before_ms
GROUP BY r.partner_campaign_id;

-- name: outcomes_of_partner
SELECT COALESCE(SUM(CASE WHEN s.referral_status = 'rejected' THEN 1 ELSE 0 END), 0) AS rejected,
       COALESCE(SUM(CASE WHEN r.uncharged_reason IS NOT NULL THEN 1 ELSE 0 END), 0) AS uncharged
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.partner_account_id = :account_id AND r.decided_ms >= :from_ms AND r.decided_ms < :to_ms;

-- name: programs_of_partner
SELECT j.id AS partner_campaign_id, j.program_id, b.name AS publication_name, p.max_payout_cents,
       COALESCE(s.spent_cents, 0) AS spent_cents
FROM partner_campaign AS j JOIN program AS p ON p.id = j.program_id JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
WHERE j.account_id = :account_id ORDER BY j.created_ms, j.id;

-- name: maturities_of_program
SELECT s.referral_due_ms / 86400000 AS day, COUNT(*) AS n, CAST(SUM(r.fee_cents) AS BIGINT) AS cents
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.account_id = :account_id AND r.program_id = :program_id AND r.decided_ms IS NULL AND s.referral_status = 'pending'
  AND s.erased_ms IS NULL AND s.referral_due_ms IS NOT NULL
GROUP BY s.referral_due_ms / 86400000 ORDER BY day LIMIT 60;

-- name: maturities_of_partner
SELECT s.referral_due_ms / 86400000 AS day, COUNT(*) AS n, CAST(SUM(r.fee_cents) AS BIGINT) AS cents
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.partner_account_id = :account_id AND r.decided_ms IS NULL AND s.referral_status = 'pending' AND s.erased_ms IS NULL
  AND s.referral_due_ms IS NOT NULL AND r.partner_account_id <> r.account_id
GROUP BY s.referral_due_ms / 86400000 ORDER BY day LIMIT 60;
