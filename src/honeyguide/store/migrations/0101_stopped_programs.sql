-- works-with: 0093
-- locks: program, for a moment
--   stopped_ms   when it last stopped paying for new referrals: paused, archived or deleted; null if it never did since this is noted
ALTER TABLE program ADD COLUMN stopped_ms INTEGER;
