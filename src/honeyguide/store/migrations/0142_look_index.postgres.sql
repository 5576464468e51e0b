-- works-with: 0093
-- locks: nothing
-- concurrently: partner_referral_look
-- Referrals by the owner's look at their partner.
CREATE INDEX CONCURRENTLY partner_referral_look ON partner_referral (look_id, arrived_ms) WHERE look_id IS NOT NULL;
