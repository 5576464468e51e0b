-- works-with: 0060
-- locks: nothing
-- concurrently: won_reward_unclaimed
-- What was earned and is not claimed yet, by reward.
CREATE INDEX CONCURRENTLY won_reward_unclaimed ON won_reward (reward_id, earned_ms, id) WHERE status = 'unlocked';
