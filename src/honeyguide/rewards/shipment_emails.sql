-- name: due
-- Subscribers of whom everything that was marked as sent is older than a minute. What was marked ahead of a
-- clock that was set back does not wait until then.
SELECT account_id, campaign_id, subscriber_id FROM won_reward WHERE announce_ms IS NOT NULL
GROUP BY account_id, campaign_id, subscriber_id
HAVING MAX(announce_ms) <= :now_ms OR MAX(announce_ms) > :ahead_ms
ORDER BY MIN(announce_ms), subscriber_id
LIMIT :most;

-- name: lock
-- Lock what was sent to a subscriber.
SELECT id FROM won_reward
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND subscriber_id = :subscriber_id
  AND announce_ms IS NOT NULL
ORDER BY id;

-- name: to_announce
-- Shipments that the subscriber is still to be told of.
SELECT r.name, w.earned_ms, w.sent_ms, w.shipping, w.tracking_note
FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id
WHERE w.account_id = :account_id
  AND w.campaign_id = :campaign_id
  AND w.subscriber_id = :subscriber_id
  AND w.announce_ms IS NOT NULL
  AND w.sent_ms IS NOT NULL
ORDER BY w.earned_ms, w.id;

-- name: mark_announced
-- Record that the subscriber was told.
UPDATE won_reward SET announce_ms = NULL
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND subscriber_id = :subscriber_id
  AND announce_ms IS NOT NULL;
