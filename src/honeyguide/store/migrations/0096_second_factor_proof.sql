-- works-with: 0093
-- locks: session, for a moment
--   second_factor_ms   when the code of a second factor was last entered in this session; 0 if never. A password alone does not count.
ALTER TABLE session ADD COLUMN second_factor_ms INTEGER NOT NULL DEFAULT 0;
