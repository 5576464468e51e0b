-- works-with: 0020
-- locks: integration, for reads and writes, for a moment
--   fields_ms        when our fields were created again there; what was written before went with the old ones
--   refused_hook     why the last webhook that was not taken was refused; refused_hook_ms when
ALTER TABLE integration ADD COLUMN fields_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE integration ADD COLUMN refused_hook TEXT;
ALTER TABLE integration ADD COLUMN refused_hook_ms INTEGER;
