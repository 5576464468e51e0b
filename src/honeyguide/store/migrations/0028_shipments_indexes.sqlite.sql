-- works-with: 0020
-- The same indexes as in the five files for PostgreSQL, which say what each is for.
CREATE INDEX won_reward_to_send ON won_reward (campaign_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
CREATE INDEX won_reward_to_send_of_reward ON won_reward (reward_id, redeemed_ms, id) WHERE shipping IS NOT NULL AND sent_ms IS NULL;
CREATE INDEX won_reward_sent ON won_reward (campaign_id, sent_ms, id) WHERE sent_ms IS NOT NULL;
CREATE INDEX won_reward_sent_by_claim ON won_reward (campaign_id, redeemed_ms, id) WHERE sent_ms IS NOT NULL;
CREATE INDEX won_reward_address_kept ON won_reward (sent_ms) WHERE sent_ms IS NOT NULL AND shipping IS NOT NULL;
