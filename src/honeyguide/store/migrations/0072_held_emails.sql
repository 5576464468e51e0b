-- works-with: 0060
-- locks: letter (writes wait while its indexes are built)
-- A confirmation email that waits because of its referral code: it has the code and no `due_ms`.
ALTER TABLE letter ADD COLUMN held_code TEXT;
-- The mail server said that there is no such mailbox. Nobody in the account is written to there again.
ALTER TABLE letter ADD COLUMN bounced INTEGER NOT NULL DEFAULT 0;
CREATE INDEX letter_held ON letter (account_id, held_code, created_ms) WHERE held_code IS NOT NULL;
CREATE INDEX letter_bounced ON letter (account_id, mailbox) WHERE bounced = 1;

-- Referral codes whose confirmation emails waited at some time. While some do, `look_ms` is when a job looks again whether they
-- may go. `released_ms` is when the owner last sent all that waited.
CREATE TABLE confirmation_brake (
    campaign_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    look_ms INTEGER,
    released_ms INTEGER,
    PRIMARY KEY (campaign_id, code)
) STRICT;
CREATE INDEX confirmation_brake_look ON confirmation_brake (look_ms) WHERE look_ms IS NOT NULL;
