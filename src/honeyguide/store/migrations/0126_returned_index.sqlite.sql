-- works-with: 0093
-- locks: partner_referral (writes wait while the index is built)
-- Paid readers who bounced or complained.
CREATE INDEX partner_referral_returned ON partner_referral (account_id, charged_month) WHERE returned IS NOT NULL;
