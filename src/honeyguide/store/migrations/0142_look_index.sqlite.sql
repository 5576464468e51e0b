-- works-with: 0093
-- locks: partner_referral (writes wait while the index is built)
-- Referrals by the owner's look at their partner.
CREATE INDEX partner_referral_look ON partner_referral (look_id, arrived_ms) WHERE look_id IS NOT NULL;
