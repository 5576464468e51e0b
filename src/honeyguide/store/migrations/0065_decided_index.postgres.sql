-- works-with: 0060
-- locks: nothing
-- concurrently: partner_referral_decided
CREATE INDEX CONCURRENTLY partner_referral_decided ON partner_referral (program_id, decided_ms) WHERE decided_ms IS NOT NULL;
