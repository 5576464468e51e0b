-- works-with: 0020
-- concurrently: won_reward_sent
-- What was sent, by the time it was sent, as the dashboard lists it.
CREATE INDEX CONCURRENTLY won_reward_sent ON won_reward (campaign_id, sent_ms, id) WHERE sent_ms IS NOT NULL;
