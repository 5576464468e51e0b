-- works-with: 0093
-- locks: partner_referral, for a moment
-- Whether the owner's allow list had the person when they came. It stays so when the entry is taken off.
ALTER TABLE partner_referral ADD COLUMN was_allowed INTEGER NOT NULL DEFAULT 0;
