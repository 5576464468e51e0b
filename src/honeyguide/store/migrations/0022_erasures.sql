-- works-with: 0020
-- locks: nothing; it creates a table
-- Who was erased, as ids and the keyed hash of the person: whoever restores an older backup erases them again. `copied_ms` is when the
-- row was copied to HONEYGUIDE_BACKUP_URL, since the database itself may be what is lost.
CREATE TABLE erasure (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    person_key TEXT NOT NULL,
    erased_ms INTEGER NOT NULL,
    copied_ms INTEGER
) STRICT;

CREATE INDEX erasure_uncopied ON erasure (id) WHERE copied_ms IS NULL;
CREATE INDEX erasure_age ON erasure (erased_ms);
