-- works-with: 0060
-- locks: partner_referral, webhook and program_day (briefly)
-- The last reversal of a referral's charge, why, and what the owner wrote about it; empty once it is verified again.
ALTER TABLE partner_referral ADD COLUMN reversal_id TEXT;
ALTER TABLE partner_referral ADD COLUMN reversal_reason TEXT;
ALTER TABLE partner_referral ADD COLUMN reversal_note TEXT;
ALTER TABLE webhook ADD COLUMN partner_referral_reversed INTEGER;
ALTER TABLE program_day ADD COLUMN reversed INTEGER NOT NULL DEFAULT 0;
