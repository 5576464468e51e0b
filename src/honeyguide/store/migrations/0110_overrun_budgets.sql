-- works-with: 0093
-- locks: budget, for a moment
-- The highest limit of a month that had no room for a fee, and when the referral with that fee had come: those who came before it
-- are not stopped by it. -1 if there was none. `reached_cents` keeps the limits that were spent, which stop everybody.
ALTER TABLE budget ADD COLUMN overrun_cents INTEGER NOT NULL DEFAULT -1;
ALTER TABLE budget ADD COLUMN overrun_ms INTEGER NOT NULL DEFAULT 0;
