-- name: count_held
-- How many referrals arrived lately, and how many another rule would have held.
SELECT COUNT(*) AS arrived,
       COUNT(CASE WHEN s.referral_status <> 'verified' AND s.referral_reason {in :reasons} THEN 1 END) AS held
FROM (SELECT subscriber_id FROM partner_referral
      WHERE account_id = :account_id AND program_id = :program_id AND arrived_ms >= :since_ms
      ORDER BY arrived_ms DESC, id DESC LIMIT :most) AS r
JOIN subscriber AS s ON s.id = r.subscriber_id;

-- name: health
-- Over all accounts.
SELECT COUNT(CASE WHEN p.rule <> 'none' THEN 1 END) AS needing_email,
       COUNT(CASE WHEN f.arrived_30d >= :least
               AND f.held_30d * 100 > f.arrived_30d * :percent THEN 1 END) AS holding_many
FROM program AS p
JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN program_figures AS f ON f.program_id = p.id
WHERE p.deleted_ms IS NULL AND b.deleted_ms IS NULL;
