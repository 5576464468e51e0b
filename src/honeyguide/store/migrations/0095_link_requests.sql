-- works-with: 0093
-- locks: nothing; it creates a table
-- Who asked for a link by email, until a job answers them a moment later, which looks up whether somebody has the address.
CREATE TABLE link_request (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    email TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    CHECK (kind IN ('password', 'account'))
) STRICT;
