-- fragment: reward_to_fulfill
w.id, w.subscriber_id, w.status, w.earned_ms, w.claimed_ms, r.name, s.name AS subscriber_name, s.email

-- name: claimed
-- What subscribers asked for, the oldest first.
SELECT {reward_to_fulfill}
FROM won_reward AS w
JOIN reward AS r ON r.id = w.reward_id
LEFT JOIN subscriber AS s ON s.id = w.subscriber_id
WHERE w.account_id = :account_id
  AND w.campaign_id = :campaign_id
  AND w.status = 'unlocked'
  AND w.claimed_ms IS NOT NULL
ORDER BY w.claimed_ms, w.id
LIMIT :most;

-- name: unclaimed
-- In alphabetical order, those that await approval come first.
SELECT {reward_to_fulfill}
FROM won_reward AS w
JOIN reward AS r ON r.id = w.reward_id
LEFT JOIN subscriber AS s ON s.id = w.subscriber_id
WHERE w.account_id = :account_id AND w.campaign_id = :campaign_id AND w.claimed_ms IS NULL
  AND (w.status = 'awaiting_approval' OR w.status = 'unlocked' AND r.kind = 'manual')
ORDER BY w.status, w.earned_ms, w.id
LIMIT :most;

-- name: claimed_before
-- Whoever was erased needs nothing any more.
SELECT {reward_to_fulfill}
FROM won_reward AS w
JOIN reward AS r ON r.id = w.reward_id
JOIN subscriber AS s ON s.id = w.subscriber_id AND s.erased_ms IS NULL
WHERE w.account_id = :account_id
  AND w.campaign_id = :campaign_id
  AND w.status = 'redeemed'
  AND w.redeemed_by = 'reader'
  AND w.claimed_ms IS NOT NULL
ORDER BY w.claimed_ms, w.id
LIMIT :most;

-- name: decline
-- Decline a claim, with the reason.
UPDATE won_reward SET claimed_ms = NULL, decline_reason = :reason WHERE account_id = :account_id AND id = :id;

-- name: forget_earlier
-- Forget that subscribers of the campaign redeemed rewards themselves.
UPDATE won_reward SET claimed_ms = NULL
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND status = 'redeemed'
  AND redeemed_by = 'reader'
  AND claimed_ms IS NOT NULL;
