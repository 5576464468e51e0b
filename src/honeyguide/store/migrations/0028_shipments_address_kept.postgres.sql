-- works-with: 0020
-- concurrently: won_reward_address_kept
-- Sent, and the postal address is not removed yet.
CREATE INDEX CONCURRENTLY won_reward_address_kept ON won_reward (sent_ms) WHERE sent_ms IS NOT NULL AND shipping IS NOT NULL;
