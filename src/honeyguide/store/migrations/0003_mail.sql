-- Letters: written with the change they tell of, sent later. `due_ms` is null once a letter is sent, failed or cancelled.
-- `account_id` is the account on whose behalf it goes out, `about_id` the subscriber it tells of. `mailbox` folds aliases of
-- one mailbox together, so that limits on mail hold for the person who gets it. `waited_for` is 1 when somebody sits in front
-- of a screen until it comes.
CREATE TABLE letter (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    to_email TEXT,
    mailbox TEXT,
    from_name TEXT,
    subject TEXT,
    body_text TEXT,
    body_html TEXT,
    about_id TEXT,
    once_key TEXT,
    waited_for INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    due_ms INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    lease_token TEXT,
    sent_ms INTEGER,
    failed_ms INTEGER,
    error TEXT,
    CHECK (due_ms IS NULL OR (sent_ms IS NULL AND failed_ms IS NULL)),
    CHECK (due_ms IS NULL OR (to_email IS NOT NULL AND subject IS NOT NULL AND body_text IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX letter_once ON letter (account_id, once_key) WHERE once_key IS NOT NULL;
CREATE INDEX letter_due ON letter (waited_for DESC, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX letter_account ON letter (account_id, created_ms, id);
CREATE INDEX letter_about ON letter (account_id, about_id, created_ms) WHERE about_id IS NOT NULL;
CREATE INDEX letter_mailbox ON letter (mailbox, created_ms) WHERE mailbox IS NOT NULL;
CREATE INDEX letter_kept ON letter (created_ms) WHERE body_text IS NOT NULL AND due_ms IS NULL;
