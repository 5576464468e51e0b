-- works-with: 0020
-- The newest signups from the operator's own website, however many others there are.
CREATE INDEX subscriber_embed ON subscriber (campaign_id, received_ms DESC) WHERE origin = 'embed' AND erased_ms IS NULL;
