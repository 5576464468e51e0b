-- works-with: 0020
-- concurrently: subscriber_claimed
-- Who came with an unknown code: the dashboard counts them.
CREATE INDEX CONCURRENTLY subscriber_claimed ON subscriber (campaign_id, claimed_code) WHERE claimed_code IS NOT NULL;
