-- works-with: 0093
-- locks: nothing
-- Accounts of which more than 500 signups of a day are not confirmed, and hardly any are. A job adds and removes them.
CREATE TABLE flooded_account (
    account_id TEXT PRIMARY KEY,
    since_ms INTEGER NOT NULL
);
