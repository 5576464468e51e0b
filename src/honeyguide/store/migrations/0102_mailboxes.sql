-- works-with: 0093
-- locks: nothing; it creates two tables
-- More spellings of an address are one person than before. What was kept for good, such as the keys of charges and of people who were
-- erased, keeps the key that it was made with.
--   earlier_key   the key that a spelling had before
--   person_key    the key that it has now
CREATE TABLE earlier_person_key (
    earlier_key TEXT NOT NULL PRIMARY KEY,
    person_key TEXT NOT NULL
) STRICT;

CREATE INDEX earlier_person_key_of ON earlier_person_key (person_key);

-- Campaigns whose subscribers get their new keys in the background, and how far that is.
CREATE TABLE person_rekeying (
    campaign_id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    after_ms INTEGER NOT NULL DEFAULT -9223372036854775807,
    after_id TEXT NOT NULL DEFAULT ''
) STRICT;

INSERT INTO person_rekeying (campaign_id, account_id) SELECT id, account_id FROM campaign;
