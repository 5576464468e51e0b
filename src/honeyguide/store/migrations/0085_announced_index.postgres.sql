-- works-with: 0060
-- locks: nothing
-- concurrently: won_reward_announce
-- What was marked as sent within the last minute.
CREATE INDEX CONCURRENTLY won_reward_announce ON won_reward (announce_ms) WHERE announce_ms IS NOT NULL;
