-- works-with: 0020
-- locks: subscriber and advocate, for reads and writes, for a moment
-- What subscribers choose on their referral page.
--   shows_name       people they invite see their first name on the signup page
--   left_program_ms  they left the referral program: their link no longer counts. They stay subscribed.
ALTER TABLE subscriber ADD COLUMN shows_name INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriber ADD COLUMN left_program_ms INTEGER;
-- They are on the leaderboard. Beside the count that it is sorted by, so that one index has both.
ALTER TABLE advocate ADD COLUMN on_leaderboard INTEGER NOT NULL DEFAULT 0;
