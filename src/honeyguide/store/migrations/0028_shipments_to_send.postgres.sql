-- works-with: 0020
-- concurrently: won_reward_to_send
-- What is to send, by the time it was claimed.
CREATE INDEX CONCURRENTLY won_reward_to_send ON won_reward (campaign_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
