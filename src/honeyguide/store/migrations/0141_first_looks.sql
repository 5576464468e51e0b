-- works-with: 0093
-- locks: partner_referral, partner_campaign, program and account, for a moment
-- Of a referral that counts only within its partner's first look: whose look that is, and how many of theirs counted
-- without one when it came. NULL if it needs none.
ALTER TABLE partner_referral ADD COLUMN look_id TEXT;
ALTER TABLE partner_referral ADD COLUMN first_look INTEGER;
-- The owner's look at the readers of one partner, who is everybody with an owner in common. `id` is the oldest of their
-- partner campaigns in the program.
--   allowed, counted   how many of their referrals may count until the owner has looked (again), and how many did
--   looks              how often the owner said that they look right
--   asked_ms           since when the owner is asked; NULL if they are not
--   postponed_ms       when the owner asked to be asked again a week later, which works once
--   reminded           the last day of which the owner was reminded: 1, 3 or 7
--   paused_ms          since when new readers of the partner do not count, because the owner did not look
--   looked_ms          when the owner last decided, and which login that was
--   refused_ms         when the owner refused those who had come
--   approved           JSON: what the readers were like that looked right, to see when later ones differ
--   compared           how many had counted when they were last compared with those
CREATE TABLE first_look (
    id TEXT PRIMARY KEY REFERENCES partner_campaign (id),
    account_id TEXT NOT NULL REFERENCES account (id),
    program_id TEXT NOT NULL REFERENCES program (id),
    allowed INTEGER NOT NULL,
    counted INTEGER NOT NULL DEFAULT 0,
    looks INTEGER NOT NULL DEFAULT 0,
    asked_ms INTEGER,
    postponed_ms INTEGER,
    reminded INTEGER NOT NULL DEFAULT 0,
    paused_ms INTEGER,
    looked_ms INTEGER,
    looked_by TEXT,
    refused_ms INTEGER,
    approved TEXT,
    compared INTEGER NOT NULL DEFAULT 0,
    CHECK (counted >= 0 AND counted <= allowed)
) STRICT;
CREATE INDEX first_look_account ON first_look (account_id, asked_ms);
CREATE INDEX first_look_program ON first_look (program_id);
CREATE INDEX first_look_asked ON first_look (asked_ms) WHERE asked_ms IS NOT NULL;
-- How many fees of partners never looked at a program allowed in a month.
CREATE TABLE first_look_month (
    program_id TEXT NOT NULL REFERENCES program (id),
    month TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    fees INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (program_id, month),
    CHECK (fees BETWEEN 0 AND 30)
) STRICT;
