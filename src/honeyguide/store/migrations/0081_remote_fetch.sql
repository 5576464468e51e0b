-- works-with: 0060
-- locks: import (briefly)
-- An import whose lines come from another service's API: where the fetch has got to. The place moves in the transaction that stores
-- what was fetched. `secret` is the key there, encrypted; empty if it is not kept, and once all is fetched.
CREATE TABLE remote_fetch (
    import_id TEXT PRIMARY KEY REFERENCES import (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    base_url TEXT NOT NULL,
    secret TEXT NOT NULL DEFAULT '',
    stage TEXT NOT NULL CHECK (stage IN ('people', 'payouts', 'partner_campaigns', 'publications', 'partner_programs', 'done')),
    round INTEGER NOT NULL DEFAULT 1,
    page INTEGER NOT NULL DEFAULT 1,
    parts INTEGER NOT NULL DEFAULT 0,
    fetched INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    next_ms INTEGER NOT NULL DEFAULT 0,
    is_stopped INTEGER NOT NULL DEFAULT 0,
    problem TEXT NOT NULL DEFAULT '',
    not_understood TEXT NOT NULL DEFAULT '{}',
    says_who_left INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX remote_fetch_due ON remote_fetch (next_ms) WHERE secret <> '' AND is_stopped = 0;
CREATE INDEX remote_fetch_of ON remote_fetch (account_id, created_ms);

-- Who was fetched, while it goes on: the list moves while people join and leave.
CREATE TABLE fetched_person (
    import_id TEXT NOT NULL REFERENCES remote_fetch (import_id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (import_id, uuid)
) STRICT;

-- What another service said about publications, programs and payouts: to read, never part of the ledger. `made_id` is the publication
-- or program that was created here from it; `note` says why there is none.
CREATE TABLE moved_document (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('payouts', 'partner_campaigns', 'publications', 'partner_programs')),
    base_url TEXT NOT NULL,
    uuid TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    made_id TEXT,
    note TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX moved_document_once ON moved_document (account_id, kind, base_url, uuid);
