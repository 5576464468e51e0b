-- name: to_fulfill
-- In alphabetical order, those that await approval come first.
SELECT w.id, w.subscriber_id, w.status, w.earned_ms, r.name, s.name AS subscriber_name, s.email
FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id LEFT JOIN subscriber AS s ON s.id = w.subscriber_id
WHERE w.account_id = :account_id AND w.campaign_id = :campaign_id
  AND (w.status = 'awaiting_approval' OR w.status = 'unlocked' AND r.kind = 'manual')
ORDER BY w.status, w.earned_ms, w.id LIMIT :most;
