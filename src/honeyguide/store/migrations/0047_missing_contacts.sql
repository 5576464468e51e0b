-- works-with: 0020
-- locks: integration and integration_subscriber, for reads and writes, for a moment
-- Who was deleted on an email platform is found when its whole list has been read without them.
--   seen_ms        when the last reading of the whole list that showed them began
--   list_read_ms   when the last reading of the whole list that we believe began
--   missing        how many the last reading did not show, if that was too many to believe it; missing_ms when it began
ALTER TABLE integration_subscriber ADD COLUMN seen_ms INTEGER;
ALTER TABLE integration ADD COLUMN list_read_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE integration ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE integration ADD COLUMN missing_ms INTEGER NOT NULL DEFAULT 0;
-- A reading that is under way begins again, so that nobody of its first pages is missing.
UPDATE integration SET read_token = NULL WHERE is_reading = 1;
