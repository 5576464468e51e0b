-- works-with: 0093
-- locks: partner_referral (writes wait while the index is built)
-- Referrals whose fee the owner has to decide.
CREATE INDEX partner_referral_team_act ON partner_referral (account_id) WHERE team_act IS NOT NULL AND decided_ms IS NULL;
