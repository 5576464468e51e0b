-- works-with: 0093
-- locks: won_reward, for a moment
--   claimed_ms   when the subscriber asked for a reward that the operator hands over by hand. Null again once the claim is declined
--   decline_reason   the sentence for the subscriber, until they claim it again or it is done
ALTER TABLE won_reward ADD COLUMN claimed_ms INTEGER;
ALTER TABLE won_reward ADD COLUMN decline_reason TEXT;
-- Until now such a claim was a redeemed reward, which nobody saw. These are listed until the operator has looked at them.
UPDATE won_reward SET claimed_ms = redeemed_ms WHERE status = 'redeemed' AND redeemed_by = 'reader'
    AND reward_id IN (SELECT id FROM reward WHERE kind = 'manual');
