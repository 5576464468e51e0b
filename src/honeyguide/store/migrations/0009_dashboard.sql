-- Who is logged in, what their letters allow once, how often somebody tried, and files of people.

-- `digest` is of a 256-bit token that only the browser holds.
CREATE TABLE session (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    digest TEXT NOT NULL,
    user_agent TEXT,
    address TEXT,
    created_ms INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_digest ON session (digest);
CREATE INDEX session_account ON session (account_id, seen_ms);

-- A link in a letter that works once: a forgotten password, or an account to open. `account_id` is whose password it changes or
-- who invites; null for somebody who asked for an account by themselves.
CREATE TABLE ticket (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    kind TEXT NOT NULL,
    account_id TEXT REFERENCES account (id),
    email TEXT,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    used_ms INTEGER,
    CHECK (kind IN ('password_reset', 'invitation'))
) STRICT;
CREATE UNIQUE INDEX ticket_digest ON ticket (digest);
CREATE INDEX ticket_account ON ticket (account_id, created_ms) WHERE account_id IS NOT NULL;
CREATE INDEX ticket_age ON ticket (expires_ms);

-- How often one address or account was tried in the window that began at `since_ms`.
CREATE TABLE attempt_count (
    subject TEXT PRIMARY KEY,
    since_ms INTEGER NOT NULL,
    n INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_count_age ON attempt_count (since_ms);

-- The first account runs the installation.
INSERT INTO instance (name, value) SELECT 'first_account', id FROM account ORDER BY created_ms, id LIMIT 1;
UPDATE account SET is_admin = 1 WHERE id IN (SELECT value FROM instance WHERE name = 'first_account');

-- Lists of the dashboard: what waits for a decision, who left, and names by how they begin.
CREATE INDEX subscriber_review ON subscriber (campaign_id, referral_status, received_ms, id)
WHERE erased_ms IS NULL AND referrer_code IS NOT NULL AND referral_status <> 'verified';
CREATE INDEX subscriber_left ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND status = 'unsubscribed';
CREATE INDEX subscriber_name ON subscriber (campaign_id, lower(name)) WHERE erased_ms IS NULL AND name IS NOT NULL;

-- A file of people on its way in. Its lines are kept in parts, each gone when it is done; `dry` is what a dry run found.
CREATE TABLE import (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL,
    file_name TEXT NOT NULL,
    header TEXT NOT NULL,
    mapping TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'new',
    total INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    added INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    dry TEXT,
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER,
    CHECK (status IN ('new', 'running', 'done'))
) STRICT;
CREATE INDEX import_account ON import (account_id, created_ms, id);
CREATE INDEX import_running ON import (created_ms) WHERE status = 'running';

CREATE TABLE import_part (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (import_id, n)
) STRICT;

-- Lines that could not be taken, and why: the file to mend.
CREATE TABLE import_error (
    import_id TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    sentence TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (import_id, line)
) STRICT;
