-- works-with: 0020
-- concurrently: won_reward_sent_by_claim
-- What was sent, by the time it was claimed, as the API lists it.
CREATE INDEX CONCURRENTLY won_reward_sent_by_claim ON won_reward (campaign_id, redeemed_ms, id) WHERE sent_ms IS NOT NULL;
