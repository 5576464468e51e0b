-- What waits for a person to look: a handful among all that wait for time or a confirmation.
CREATE INDEX subscriber_suspected ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referral_status = 'pending' AND referral_reason IN ('same_network', 'many_from_one_network', 'burst');
