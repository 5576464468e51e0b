-- works-with: 0093
-- locks: nothing
-- Changes of what a program pays for, while they are still to be told to its partners or still to begin. Then the row is deleted:
-- the change log of the owner and the notifications of the partners say what there was.
--   texts        what partners are told: a JSON list of lists, each a label, the old value and the new one or ones
--   fields       a JSON object of the columns that are set when it begins; null if they were set at once
--   is_telling   the first partners were told, so that what comes later is another change
CREATE TABLE term_change (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    program_id TEXT NOT NULL,
    texts TEXT NOT NULL,
    fields TEXT,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    starts_ms INTEGER NOT NULL,
    is_telling INTEGER NOT NULL DEFAULT 0,
    is_told INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX term_change_program ON term_change (program_id);
