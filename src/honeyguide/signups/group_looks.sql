-- name: to_tell
-- Over all accounts: groups that wait for their owner, who was not told today. Those of a partner whose card
-- is open are part of it.
SELECT g.id, g.account_id, g.campaign_id, b.name AS publication_name, g.people, g.found_ms
FROM trait_group AS g
JOIN program AS p ON p.id = g.program_id
JOIN publication AS b ON b.id = p.publication_id
WHERE (g.reminded IS NULL AND g.found_ms <= :day_0_ms OR g.found_ms <= :day_1_ms AND g.reminded < 1
      OR g.found_ms <= :day_3_ms AND g.reminded < 3 OR g.found_ms <= :day_7_ms AND g.reminded < 7)
  AND (g.approved_people IS NULL OR g.people >= CAST(:growth AS DOUBLE PRECISION) * g.approved_people)
  AND g.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM first_look AS f WHERE f.id = g.part_id AND f.asked_ms IS NOT NULL)
  AND EXISTS (SELECT 1 FROM trait_group_partner AS t
      JOIN partner_referral AS r ON r.partner_campaign_id = t.partner_campaign_id AND r.decided_ms IS NULL
      JOIN subscriber AS s ON s.id = r.subscriber_id AND s.referral_reason = 'needs_review'
      JOIN evidence AS e ON e.subscriber_id = s.id AND e.code = g.kind
      WHERE t.group_id = g.id)
ORDER BY g.id
LIMIT :most;

-- name: tell
-- Record of which day the owner was told.
UPDATE trait_group SET reminded = :day
WHERE account_id = :account_id AND id = :id AND COALESCE(reminded, -1) < :day;
