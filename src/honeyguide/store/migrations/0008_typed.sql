-- How often a mailbox was typed into a public form lately, as a keyed hash: limits that hold over every process and restart.
CREATE TABLE typed_address (
    bucket TEXT PRIMARY KEY,
    began_ms INTEGER NOT NULL,
    n INTEGER NOT NULL
) STRICT;
CREATE INDEX typed_address_age ON typed_address (began_ms);
