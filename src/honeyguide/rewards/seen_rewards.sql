-- name: unseen
-- Earned rewards that the subscriber has not seen yet.
SELECT id FROM won_reward
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :subscriber_id
  AND status = 'unlocked' AND seen_ms IS NULL;

-- name: mark_seen
-- The subscriber has seen these.
UPDATE won_reward SET seen_ms = :now_ms WHERE account_id = :account_id AND id {in :ids} AND seen_ms IS NULL;
