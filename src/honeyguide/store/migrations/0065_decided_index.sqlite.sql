-- works-with: 0060
-- locks: partner_referral (writes wait while the index is built)
CREATE INDEX partner_referral_decided ON partner_referral (program_id, decided_ms) WHERE decided_ms IS NOT NULL;
