-- works-with: 0088
-- locks: change_log and transfer, for reads and writes, while an index of each is built; period and account, for a moment
-- What was in the ledger and the change log of a closed month, as a digest that anyone can keep.
--   change_log.salt, values_hash   a salted hash of `before` and `after`. Erasing somebody empties both values and the salt; the hash
--                                  stays, and says nothing without them. Rows of an earlier version get theirs before the first digest.
ALTER TABLE change_log ADD COLUMN salt TEXT;
ALTER TABLE change_log ADD COLUMN values_hash TEXT;
-- By time, which the page and the digests go by.
DROP INDEX change_log_account;
CREATE INDEX change_log_account ON change_log (account_id, changed_ms, id);
CREATE INDEX transfer_debit ON transfer (month, debit);

--   previous    the digest of the account's month before; empty for the first
--   ledger      SHA-256 of what the ledger has of the account in this month
--   log         SHA-256 of the change log
--   digest      SHA-256 of all these
--   until_ms    the first moment after the month; what is logged later belongs to a later month, whatever the clock says
CREATE TABLE month_digest (
    account_id TEXT NOT NULL REFERENCES account (id),
    month TEXT NOT NULL,
    previous TEXT NOT NULL,
    ledger TEXT NOT NULL,
    log TEXT NOT NULL,
    digest TEXT NOT NULL,
    until_ms INTEGER NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, month)
) STRICT;
-- When every account had its digest.
ALTER TABLE period ADD COLUMN digested_ms INTEGER;
