-- works-with: 0060
-- locks: nothing
-- An import compared with its file, part by part, and the signed document that says what was found. `tally` is what was found so far;
-- `document` is empty until the last part was compared. Nothing personal: only counts and the numbers of lines. It outlives the import.
CREATE TABLE certificate (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    import_id TEXT NOT NULL,
    next_part INTEGER NOT NULL DEFAULT 0,
    tally TEXT NOT NULL,
    document TEXT NOT NULL DEFAULT '',
    started_ms INTEGER NOT NULL,
    made_ms INTEGER
) STRICT;
CREATE INDEX certificate_of ON certificate (account_id, import_id, started_ms);
CREATE INDEX certificate_running ON certificate (started_ms) WHERE made_ms IS NULL;
