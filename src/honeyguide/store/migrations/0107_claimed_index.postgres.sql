-- works-with: 0093
-- locks: nothing
-- concurrently: won_reward_claimed
-- Claims that the operator has to see, by time.
CREATE INDEX CONCURRENTLY won_reward_claimed ON won_reward (campaign_id, status, claimed_ms, id) WHERE claimed_ms IS NOT NULL AND (status = 'unlocked' OR redeemed_by = 'reader');
