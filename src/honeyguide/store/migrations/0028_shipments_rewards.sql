-- works-with: 0020
-- locks: reward, for writes, for a moment
-- The physical rewards of a campaign, also those that are no longer offered, to count what is to send of each.
CREATE INDEX reward_physical ON reward (campaign_id, referrals, id) WHERE kind = 'physical';
