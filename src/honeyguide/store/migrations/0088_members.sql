-- works-with: 0088
-- locks: account, session, ticket and partner_referral, for reads and writes, while partner_referral is read once
-- People and accounts are separate: a user logs in, and is a member of one or more accounts with a role in each.

CREATE TABLE login_user (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    name TEXT,
    password_hash TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX login_user_email ON login_user (email_key);

CREATE TABLE member (
    account_id TEXT NOT NULL REFERENCES account (id),
    user_id TEXT NOT NULL REFERENCES login_user (id),
    role TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, user_id),
    CHECK (role IN ('owner', 'editor', 'finance', 'analyst'))
) STRICT;
CREATE INDEX member_user ON member (user_id, created_ms, account_id);

-- Until now an account was its own user. That user keeps the account's id, so the sessions, links and changes that name it stay right.
INSERT INTO login_user (id, email, email_key, password_hash, created_ms)
SELECT id, email, email_key, password_hash, created_ms FROM account;
INSERT INTO member (account_id, user_id, role, created_ms) SELECT id, id, 'owner', created_ms FROM account;

-- `account.email` stays: where the account's notifications go, which several accounts may share.
DROP INDEX account_email;
ALTER TABLE account DROP COLUMN email_key;
ALTER TABLE account DROP COLUMN password_hash;

--   user_id       whose session it is; `account_id` is the account that they work in now, and changes when they switch
--   is_kept       "keep me logged in"
--   verified_ms   when they last entered their password or second factor
--   expires_ms    when it ends unless it is used before
ALTER TABLE session ADD COLUMN user_id TEXT REFERENCES login_user (id);
ALTER TABLE session ADD COLUMN is_kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN verified_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN expires_ms INTEGER NOT NULL DEFAULT 0;
UPDATE session SET user_id = account_id, verified_ms = created_ms,
    expires_ms = CASE WHEN seen_ms + 43200000 < created_ms + 1209600000 THEN seen_ms + 43200000 ELSE created_ms + 1209600000 END;
DROP INDEX session_account;
CREATE INDEX session_of_user ON session (user_id, seen_ms);
CREATE INDEX session_expires ON session (expires_ms);

--   user_id   whose password the link changes
--   role      of somebody who is invited into the account `account_id`; null for an invitation to an account of one's own
ALTER TABLE ticket ADD COLUMN user_id TEXT REFERENCES login_user (id);
ALTER TABLE ticket ADD COLUMN role TEXT;
UPDATE ticket SET user_id = account_id, account_id = NULL WHERE kind = 'password_reset';

-- Whether the partner's account and the program's had a member in common when the referral came: nobody is paid for these.
ALTER TABLE partner_referral ADD COLUMN is_own INTEGER NOT NULL DEFAULT 0;
UPDATE partner_referral SET is_own = 1 WHERE partner_account_id = account_id;
