-- works-with: 0020
-- Who still has to confirm their address, of a campaign, newest first.
CREATE INDEX subscriber_unconfirmed ON subscriber (campaign_id, created_ms, id)
WHERE erased_ms IS NULL AND must_confirm = 1;
