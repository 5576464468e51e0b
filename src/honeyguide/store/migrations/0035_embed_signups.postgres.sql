-- works-with: 0020
-- concurrently: subscriber_embed
-- The newest signups from the operator's own website, however many others there are.
CREATE INDEX CONCURRENTLY subscriber_embed ON subscriber (campaign_id, received_ms DESC) WHERE origin = 'embed' AND erased_ms IS NULL;
