-- works-with: 0060
-- locks: import (briefly)
-- An import goes over its parts once for each stage, so that a referrer may come after those they referred. `next_part` is the part
-- it is at, and `done_lines` are the numbers of that part's lines which are done in this stage.
ALTER TABLE import ADD COLUMN stage TEXT NOT NULL DEFAULT 'people';
ALTER TABLE import ADD COLUMN next_part INTEGER NOT NULL DEFAULT 0;
ALTER TABLE import ADD COLUMN done_lines TEXT NOT NULL DEFAULT '[]';
-- Rewards that somebody has reached in the other tool are marked as given, unless the operator asks us to give them.
ALTER TABLE import ADD COLUMN gives_rewards INTEGER NOT NULL DEFAULT 0;
-- The name of the tool that the file is from, if it is known.
ALTER TABLE import ADD COLUMN source TEXT NOT NULL DEFAULT '';

-- What became otherwise than a line says, though its subscriber was imported. Nothing personal: `detail` is a number.
CREATE TABLE import_finding (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    detail INTEGER,
    PRIMARY KEY (import_id, line, kind)
) STRICT;

-- Who has which ID in the tool that a file is from, for the lines that name a referrer by it. Deleted when the import is done.
CREATE TABLE import_own_id (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    own_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    PRIMARY KEY (import_id, own_id)
) STRICT;
CREATE INDEX import_own_id_subscriber ON import_own_id (subscriber_id);
