-- works-with: 0020
-- locks: nothing; it creates a table
-- Backups that Honeyguide made, or tried to make, at HONEYGUIDE_BACKUP_URL, in real time. `result` is null while one is being made,
-- then ok (restored into a scratch database and verified), unchecked, broken (restored, but verify found errors) or failed; `message`
-- is a sentence about it.
CREATE TABLE backup (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    duration_ms INTEGER,
    bytes INTEGER,
    sha256 TEXT,
    result TEXT CHECK (result IN ('ok', 'unchecked', 'broken', 'failed')),
    message TEXT
) STRICT;

CREATE INDEX backup_started ON backup (started_ms);
