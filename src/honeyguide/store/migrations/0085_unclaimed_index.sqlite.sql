-- works-with: 0060
-- locks: won_reward (writes wait while the index is built)
-- What was earned and is not claimed yet, by reward.
CREATE INDEX won_reward_unclaimed ON won_reward (reward_id, earned_ms, id) WHERE status = 'unlocked';
