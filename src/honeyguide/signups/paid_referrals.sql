-- name: count_of_program
-- How many paid referrals a program has.
SELECT COUNT(*) AS n FROM partner_referral WHERE account_id = :account_id AND program_id = :program_id;

-- fragment: paid
r.fee_cents, r.charged_cents, r.charged_month, r.uncharged_reason, r.reversal_reason, r.reversal_note,
r.decided_ms, r.is_own, COALESCE(a.name, a.email) AS partner_name, s.email

-- fragment: listed
SELECT {paid}, r.id, r.subscriber_id, s.name, r.partner_campaign_id, s.referral_status AS status,
       s.referral_reason AS reason, s.referral_due_ms AS due_ms, r.arrived_ms
FROM partner_referral AS r
JOIN subscriber AS s ON s.id = r.subscriber_id
JOIN account AS a ON a.id = r.partner_account_id
WHERE r.account_id = :account_id AND r.program_id = :program_id

-- name: some_of_program
-- These paid referrals of a program.
{listed} AND r.id {in :ids} ORDER BY r.arrived_ms DESC, r.id DESC;

-- name: list_of_program
-- Paid referrals of a program, the newest first.
{listed} ORDER BY r.arrived_ms DESC, r.id DESC LIMIT :most OFFSET :skip;

-- name: sent_by
-- The partner who sent a subscriber, and the fee.
SELECT {paid}, r.program_id, b.name AS publication_name, r.id AS referral_id,
       (SELECT MAX(month) FROM period WHERE closed_ms IS NOT NULL) AS last_closed
FROM partner_referral AS r
JOIN subscriber AS s ON s.id = r.subscriber_id
JOIN program AS p ON p.id = r.program_id
JOIN publication AS b ON b.id = p.publication_id JOIN account AS a ON a.id = r.partner_account_id
WHERE r.account_id = :account_id AND r.subscriber_id = :subscriber_id;

-- name: partner_names
-- The partners who sent these subscribers.
SELECT r.subscriber_id, COALESCE(a.name, a.email) AS name
FROM partner_referral AS r JOIN account AS a ON a.id = r.partner_account_id
WHERE r.account_id = :account_id AND r.subscriber_id {in :ids};
