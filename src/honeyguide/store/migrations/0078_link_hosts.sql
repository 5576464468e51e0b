-- works-with: 0060
-- locks: account, campaign (briefly)
-- Host names of an account's own that serve its links. A host is the account's while `verified_ms` is set; until then any number of
-- accounts may ask for it. `seen_ms` is when its TXT record was last found, `due_ms` when it is looked up next.
CREATE TABLE link_host (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL REFERENCES campaign (id),
    host TEXT NOT NULL,
    token TEXT NOT NULL,
    verified_ms INTEGER,
    seen_ms INTEGER,
    checked_ms INTEGER,
    problem TEXT,
    due_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX link_host_once ON link_host (account_id, host);
CREATE UNIQUE INDEX link_host_verified ON link_host (host) WHERE verified_ms IS NOT NULL;
CREATE INDEX link_host_due ON link_host (due_ms);
