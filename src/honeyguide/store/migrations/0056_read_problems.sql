-- works-with: 0020
-- locks: integration, for reads and writes, for a moment
-- A page of a platform's list that makes no sense is tried again, and given up in the end, while webhooks and writes go on.
--   read_tries     how often the page was tried
--   read_problem   why it, or the last reading that was given up, could not be read
--   next_page_ms   not to be tried again before
ALTER TABLE integration ADD COLUMN read_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE integration ADD COLUMN read_problem TEXT;
ALTER TABLE integration ADD COLUMN next_page_ms INTEGER NOT NULL DEFAULT 0;
