-- works-with: 0093
-- locks: won_reward (writes wait while the index is built)
-- Claims that the operator has to see, by time.
CREATE INDEX won_reward_claimed ON won_reward (campaign_id, status, claimed_ms, id) WHERE claimed_ms IS NOT NULL AND (status = 'unlocked' OR redeemed_by = 'reader');
