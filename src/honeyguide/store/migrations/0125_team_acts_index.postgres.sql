-- works-with: 0093
-- locks: nothing
-- concurrently: partner_referral_team_act
-- Referrals whose fee the owner has to decide.
CREATE INDEX CONCURRENTLY partner_referral_team_act ON partner_referral (account_id) WHERE team_act IS NOT NULL AND decided_ms IS NULL;
