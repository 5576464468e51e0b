-- works-with: 0020
-- concurrently: won_reward_to_send_of_reward
-- The same for one reward.
CREATE INDEX CONCURRENTLY won_reward_to_send_of_reward ON won_reward (reward_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
