-- works-with: 0020
-- locks: listing, for reads and writes, for a moment
-- Lists of the page index with a block that is still to be split: a large import is split a few blocks at a time.
ALTER TABLE listing ADD COLUMN is_long INTEGER NOT NULL DEFAULT 0;
CREATE INDEX listing_long ON listing (list) WHERE is_long = 1;
UPDATE listing SET is_long = 1 WHERE EXISTS (SELECT 1 FROM listing_run AS b WHERE b.list = listing.list AND b.n > 2000);
