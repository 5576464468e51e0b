-- works-with: 0093
-- locks: partner_referral and program_figures, for a moment
-- What a member of the owner's team did to a reader whose fee was not decided: 'unsubscribed', 'blocked' or 'erased'. It ends no
-- fee, and stays once the owner decided.
ALTER TABLE partner_referral ADD COLUMN team_act TEXT;
-- What an email platform said first of a paid reader, 'bounced' or 'complained', and when.
ALTER TABLE partner_referral ADD COLUMN returned TEXT;
ALTER TABLE partner_referral ADD COLUMN returned_ms INTEGER;
-- Of those that were rejected: after such an act, and because the reader left, bounced or complained.
ALTER TABLE program_figures ADD COLUMN ended_by_team INTEGER NOT NULL DEFAULT 0;
ALTER TABLE program_figures ADD COLUMN ended_by_readers INTEGER NOT NULL DEFAULT 0;
