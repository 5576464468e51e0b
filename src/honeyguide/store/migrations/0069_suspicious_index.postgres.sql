-- works-with: 0060
-- locks: nothing
-- concurrently: subscriber_suspicious
CREATE INDEX CONCURRENTLY subscriber_suspicious ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referral_status = 'pending'
  AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated', 'needs_review');
