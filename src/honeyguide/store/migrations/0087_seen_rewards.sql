-- works-with: 0060
-- locks: won_reward, for reads and writes, for a moment
-- When a subscriber first saw on their referral page that a reward is theirs. It is celebrated once.
ALTER TABLE won_reward ADD COLUMN seen_ms INTEGER;
