-- works-with: 0020
-- locks: subscriber, for reads and writes, for a moment
-- Whom screening always rejects (is_blocked) and whom it trusts. `value` is a keyed hash of the person's email address, a domain, or an
-- IP range. `hint` tells the operator which address it was: its first letter and domain. Erasing a subscriber removes the hint.
CREATE TABLE screening_entry (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    is_blocked INTEGER NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    hint TEXT,
    added_ms INTEGER NOT NULL,
    CHECK (kind IN ('email', 'domain', 'ip_range'))
) STRICT;
CREATE UNIQUE INDEX screening_entry_value ON screening_entry (campaign_id, kind, value);

-- A search looks anywhere in a name, which this index cannot find, and every signup paid for it.
DROP INDEX subscriber_name;
