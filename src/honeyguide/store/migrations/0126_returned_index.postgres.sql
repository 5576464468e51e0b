-- works-with: 0093
-- locks: nothing
-- concurrently: partner_referral_returned
-- Paid readers who bounced or complained.
CREATE INDEX CONCURRENTLY partner_referral_returned ON partner_referral (account_id, charged_month) WHERE returned IS NOT NULL;
