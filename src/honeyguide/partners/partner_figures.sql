-- What came of partners' links, by partner campaign and UTC day of arrival. Only the newest referrals are
-- counted, so that a page costs the same however many there ever were.

-- fragment: days
SELECT n.partner_campaign_id, n.arrived_ms / 86400000 AS day, 0 AS clicks, COUNT(*) AS signups,
       COUNT(CASE WHEN s.referral_status = 'verified' THEN 1 END) AS verified,
       COUNT(CASE WHEN s.referral_status = 'pending' THEN 1 END) AS pending,
       COUNT(CASE WHEN s.referral_status = 'pending'
               AND s.referral_reason {in :suspicions} THEN 1 END) AS in_review,
       COUNT(CASE WHEN s.must_confirm = 0 THEN 1 END) AS confirmed,
       COUNT(CASE WHEN s.status <> 'unsubscribed'
               AND s.erased_ms IS NULL
               AND s.must_confirm = 0 THEN 1 END) AS subscribed,
       COUNT(CASE WHEN s.referral_status = 'verified'
               AND s.status <> 'unsubscribed'
               AND s.erased_ms IS NULL THEN 1 END) AS kept
FROM (SELECT r.partner_campaign_id, r.subscriber_id, r.arrived_ms FROM partner_referral AS r WHERE

-- fragment: newest
  AND r.arrived_ms >= :since_ms AND r.arrived_ms < :before_ms
ORDER BY r.arrived_ms DESC, r.id DESC
LIMIT :most) AS n
JOIN subscriber AS s ON s.id = n.subscriber_id
GROUP BY n.partner_campaign_id, n.arrived_ms / 86400000

-- fragment: clicks
SELECT j.id, d.day_ms / 86400000, d.n, 0, 0, 0, 0, 0, 0, 0 FROM partner_campaign AS j
JOIN click_day AS d ON d.target_id = j.id AND d.code = '' AND d.day_ms >= :since_ms AND d.day_ms < :before_ms

-- name: days_of_program
-- Clicks and signups of a program by day and partner.
{days} r.account_id = :account_id AND r.program_id = :program_id {newest}
UNION ALL
{clicks} WHERE j.owner_account_id = :account_id AND j.program_id = :program_id;

-- name: days_of_partner
-- Clicks on the links of a partner, and who signed up by them, by day.
{days} r.partner_account_id = :account_id {newest}
UNION ALL
{clicks} WHERE j.account_id = :account_id;

-- name: months_of_campaign
-- What was charged for one partner, by month. Only of months that had any charge.
SELECT month, spent_cents AS cents FROM partner_spend
WHERE account_id = :account_id AND partner_campaign_id = :id AND spent_cents > 0
ORDER BY month DESC
LIMIT :most;

-- name: months_of_partner
-- What a partner earned, over all programs, by month.
SELECT month, CAST(SUM(spent_cents) AS BIGINT) AS cents FROM partner_spend
WHERE partner_account_id = :account_id AND month > :after
GROUP BY month
HAVING SUM(spent_cents) > 0
ORDER BY month;

-- name: month_of_partner
-- Referrals that were charged in a month and not taken back, by partner campaign, and whether its program
-- has reached its budget. Partners are told that it is reached, but not the amount.
SELECT j.id AS partner_campaign_id, COALESCE(c.n, 0) AS charged,
       CASE WHEN g.reached_ms IS NULL THEN 0 ELSE 1 END AS is_reached
FROM partner_campaign AS j
LEFT JOIN budget AS g ON g.program_id = j.program_id AND g.month = :month
LEFT JOIN (
    SELECT partner_campaign_id, CAST(SUM(CASE WHEN fee_cents > 0 THEN 1 ELSE -1 END) AS BIGINT) AS n
    FROM charge WHERE partner_account_id = :account_id AND month = :month
    GROUP BY partner_campaign_id
) AS c ON c.partner_campaign_id = j.id
WHERE j.account_id = :account_id;

-- fragment: charged
SELECT c.partner_campaign_id, c.created_ms / 86400000 AS day, COUNT(*) AS n,
       CAST(SUM(c.fee_cents) AS BIGINT) AS cents
FROM charge AS c
WHERE c.month = :month AND c.fee_cents > 0
  AND NOT EXISTS (SELECT 1 FROM charge AS v WHERE v.reverses_id = c.id)

-- fragment: by_day
GROUP BY c.partner_campaign_id, c.created_ms / 86400000

-- name: charged_of_program
-- Charges of each partner that were not taken back, by day.
{charged} AND c.account_id = :account_id AND c.program_id = :program_id {by_day};

-- name: charged_of_campaign
-- The same of one partner, for the partner.
{charged} AND c.partner_account_id = :account_id AND c.partner_campaign_id = :id {by_day};
