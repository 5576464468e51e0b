-- works-with: 0060
-- locks: import (briefly)
-- How the dates of a file are written: `dates` is what its lines show, and `date_choice` is what the operator says where they do not.
-- `source` is the key of the tool that the file is from from now on; no import had one before.
ALTER TABLE import ADD COLUMN dates TEXT NOT NULL DEFAULT 'iso';
ALTER TABLE import ADD COLUMN date_choice TEXT NOT NULL DEFAULT 'day_first';
