-- fragment: is_open
r.account_id = :account_id AND r.team_act IS NOT NULL AND r.decided_ms IS NULL

-- name: ended
-- Fees that the owner has to decide because their team ended the subscription, those of a partner together.
SELECT s.id AS subscriber_id, r.partner_campaign_id, b.name AS publication_name, r.team_act, s.email, s.name,
       r.fee_cents, r.arrived_ms, s.referral_due_ms AS due_ms
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
JOIN program AS p ON p.id = r.program_id JOIN publication AS b ON b.id = p.publication_id
WHERE {is_open} AND s.referral_reason = 'ended_by_team'
ORDER BY r.partner_campaign_id, r.arrived_ms, r.id
LIMIT :most;

-- name: ended_among
-- Which of these subscribers are among them?
SELECT r.subscriber_id FROM partner_referral AS r WHERE {is_open} AND r.subscriber_id {in :ids};

-- fragment: charged
r.account_id = :account_id AND r.program_id = :program_id AND r.charged_cents > 0
  AND r.charged_month > :last_closed

-- name: returned
-- Who bounced or complained after the charge, as a platform says or an email of ours showed.
SELECT r.id, s.id AS subscriber_id, s.email, COALESCE(r.returned, 'bounced') AS how, r.charged_cents,
       COALESCE(r.confirmed_person_key, r.person_key) AS own_key, f.mailbox
FROM (
    SELECT r.id, NULL AS mailbox FROM partner_referral AS r
    WHERE {charged} AND r.returned IS NOT NULL AND r.returned_ms >= r.decided_ms
    UNION ALL
    SELECT r.id, e.mailbox FROM letter AS e JOIN partner_referral AS r ON r.subscriber_id = e.about_id
    WHERE {charged} AND e.account_id = :account_id AND e.bounced = 1 AND e.mailbox IS NOT NULL
      AND COALESCE(e.failed_ms, e.created_ms) >= r.decided_ms AND r.returned IS NULL
) AS f
JOIN partner_referral AS r ON r.id = f.id AND r.account_id = :account_id
JOIN subscriber AS s ON s.id = r.subscriber_id
ORDER BY r.id;

-- name: of_subscriber
-- What is kept with the referral of a subscriber by a partner.
SELECT team_act AS ended_by_team, returned FROM partner_referral
WHERE account_id = :account_id AND subscriber_id = :subscriber_id;
