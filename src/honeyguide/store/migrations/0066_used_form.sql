-- works-with: 0060
-- locks: nothing; it creates a table
-- Signup forms that were used, each by its token, so that one form makes one signup. `mailbox_hash` is a keyed hash of the email
-- address: who sends the form again gets the first answer again. A row is deleted once its token has expired.
CREATE TABLE used_form (
    token_hash TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    mailbox_hash TEXT NOT NULL,
    used_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX used_form_age ON used_form (used_ms);
