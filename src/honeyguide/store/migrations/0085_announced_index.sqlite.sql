-- works-with: 0060
-- locks: won_reward (writes wait while the index is built)
-- What was marked as sent within the last minute.
CREATE INDEX won_reward_announce ON won_reward (announce_ms) WHERE announce_ms IS NOT NULL;
