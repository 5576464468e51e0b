-- works-with: 0060
-- locks: subscriber (writes wait while the index is built)
-- Who has not confirmed for long, of those that partners referred.
CREATE INDEX subscriber_awaiting ON subscriber (received_ms)
WHERE referral_status = 'pending' AND erased_ms IS NULL AND partner_campaign_id IS NOT NULL AND referral_reason = 'awaiting_confirmation';
