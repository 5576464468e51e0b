-- A partner referral is pending until it is decided; it is due when its subscriber's holding period ends. A
-- partner's referrals to their own program are never charged, so they are left out.


-- name: budget
-- What a program has spent of a month's budget, and when it was reached.
SELECT spent_cents, reached_ms,
       CASE WHEN overrun_cents > reached_cents THEN overrun_cents ELSE reached_cents END AS reached_cents,
       told_nearly_ms, told_reached_ms FROM budget
WHERE account_id = :account_id AND program_id = :program_id AND month = :month;

-- name: pending_of_program
-- How many referrals of a program are pending, and their fees.
SELECT COUNT(*) AS referrals, CAST(COALESCE(SUM(r.fee_cents), 0) AS BIGINT) AS cents
FROM partner_referral AS r
WHERE r.account_id = :account_id AND r.program_id = :program_id AND r.decided_ms IS NULL AND r.is_own = 0;

-- name: uncharged_of_program
-- How many referrals of a program were not charged in a month.
SELECT COUNT(*) AS n FROM partner_referral
WHERE account_id = :account_id
  AND program_id = :program_id
  AND uncharged_reason IS NOT NULL
  AND charged_month = :month;

-- name: partners_of_program
-- Partners of a program, with what they earned and what is pending. Some of that waits for the owner.
SELECT j.id AS partner_campaign_id, COALESCE(a.name, a.email) AS name, j.reason_for_recommending,
       COALESCE(s.spent_cents, 0) AS spent_cents,
       (SELECT x.blocked_ms FROM partner_block AS x
        WHERE x.account_id = :account_id
          AND x.partner_account_id = j.account_id) AS blocked_ms, j.removed_ms, j.left_ms,
       COALESCE(w.n, 0) AS pending_referrals, COALESCE(w.cents, 0) AS pending_cents,
       COALESCE(w.in_review, 0) AS in_review_cents
FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
LEFT JOIN (
    SELECT r.partner_campaign_id, COUNT(*) AS n, CAST(SUM(r.fee_cents) AS BIGINT) AS cents,
           CAST(SUM(CASE WHEN s.referral_reason {in :reasons} THEN r.fee_cents ELSE 0 END) AS BIGINT)
               AS in_review
    FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
    WHERE r.account_id = :account_id AND r.program_id = :program_id AND r.decided_ms IS NULL AND r.is_own = 0
      AND COALESCE(s.referral_due_ms, 0) >= :due_from_ms AND COALESCE(s.referral_due_ms, 0) < :due_before_ms
    GROUP BY r.partner_campaign_id
) AS w ON w.partner_campaign_id = j.id
WHERE j.owner_account_id = :account_id AND j.program_id = :program_id
ORDER BY COALESCE(s.spent_cents, 0) DESC, j.created_ms, j.id;

-- fragment: pending_of_partner
SELECT r.partner_campaign_id, COUNT(*) AS n, CAST(SUM(r.fee_cents) AS BIGINT) AS cents,
       MIN(s.referral_due_ms) AS first_due_ms
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.partner_account_id = :account_id AND r.decided_ms IS NULL AND r.is_own = 0
  AND COALESCE(s.referral_due_ms, 0) >= :due_from_ms AND COALESCE(s.referral_due_ms, 0) < :due_before_ms
GROUP BY r.partner_campaign_id

-- name: pending_of_partner
-- Pending referrals that a partner sent.
{pending_of_partner};

-- name: outcomes_of_partner
-- A decided referral without a month was rejected.
SELECT (SELECT COUNT(*) FROM partner_referral
    WHERE partner_account_id = :account_id AND decided_ms >= :from_ms
          AND decided_ms < :to_ms AND charged_month IS NULL) AS rejected,
       (SELECT COUNT(*)
           FROM partner_referral
           WHERE partner_account_id = :account_id AND uncharged_reason IS NOT NULL
          AND charged_month = :month) AS uncharged;

-- name: programs_of_partner
-- Programs of a partner, with what each earned them.
SELECT j.id AS partner_campaign_id, j.program_id, b.name AS publication_name, p.max_payout_cents,
       COALESCE(s.spent_cents, 0) AS spent_cents, COALESCE(w.cents, 0) AS pending_cents
FROM partner_campaign AS j
JOIN program AS p ON p.id = j.program_id
JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
LEFT JOIN ({pending_of_partner}) AS w ON w.partner_campaign_id = j.id
WHERE j.account_id = :account_id
ORDER BY j.created_ms, j.id;

-- name: spent_of_programs
-- What each program of the owner has spent of a month's budget.
SELECT program_id, spent_cents FROM budget WHERE account_id = :account_id AND month = :month;

-- name: rooms
-- What budget and cap have held so far.
SELECT p.total_budget_cents, p.max_payout_cents, COALESCE(g.spent_cents, 0) AS spent_cents, g.reached_ms,
       COALESCE(g.reached_cents, -1) AS reached_cents, COALESCE(g.overrun_cents, -1) AS overrun_cents,
       COALESCE(g.overrun_ms, 0) AS overrun_ms,
       j.id AS partner_campaign_id, COALESCE(s.spent_cents, 0) AS partner_spent_cents
FROM partner_campaign AS j JOIN program AS p ON p.id = j.program_id
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month = :month
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
WHERE j.owner_account_id = :account_id AND j.id {in :ids};
