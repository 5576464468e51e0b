-- works-with: 0020
-- locks: the rows of subscribers whose partner's referral is pending, while it runs
-- A partner's referral waits for the confirmation as well as for its holding period. Those that are pending now wait too.
UPDATE subscriber SET referral_reason = 'awaiting_confirmation',
    referral_behind = CASE WHEN referral_reason = 'holding_period' THEN NULL ELSE referral_reason END
WHERE must_confirm = 1 AND partner_campaign_id IS NOT NULL AND referral_status = 'pending' AND erased_ms IS NULL
  AND COALESCE(referral_reason, '') <> 'awaiting_confirmation';
-- What was charged before did not wait, and `verify` must not complain of it.
INSERT INTO instance (name, value) SELECT 'last_charge_before_confirmations', MAX(id) FROM charge HAVING MAX(id) IS NOT NULL;
