-- works-with: 0088
-- locks: account and login_user, for a moment
-- Signing in: a second factor with recovery codes, and a change of email that both addresses confirm.

--   secret       of the authenticator app, encrypted with HONEYGUIDE_SECRET_KEY
--   last_step    the latest 30 seconds whose code was used: a code works once
CREATE TABLE second_factor (
    user_id TEXT PRIMARY KEY REFERENCES login_user (id),
    secret TEXT NOT NULL,
    last_step INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE recovery_code (
    user_id TEXT NOT NULL REFERENCES login_user (id),
    digest TEXT NOT NULL,
    PRIMARY KEY (user_id, digest)
) STRICT;

--   old_digest, new_digest   of the links in the emails to the old and to the new address
CREATE TABLE email_change (
    user_id TEXT PRIMARY KEY REFERENCES login_user (id),
    email TEXT NOT NULL,
    old_digest TEXT NOT NULL,
    new_digest TEXT NOT NULL,
    old_confirmed_ms INTEGER,
    new_confirmed_ms INTEGER,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX email_change_old ON email_change (old_digest);
CREATE UNIQUE INDEX email_change_new ON email_change (new_digest);
CREATE INDEX email_change_expires ON email_change (expires_ms);

-- All its members need a second factor.
ALTER TABLE account ADD COLUMN needs_second_factor INTEGER NOT NULL DEFAULT 0;
