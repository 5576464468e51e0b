-- works-with: 0060
-- locks: nothing; it creates a table
-- What became of a program's referrals in 90 days, counted once a day.
CREATE TABLE program_figures (
    program_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    reversed INTEGER NOT NULL,
    unreviewed INTEGER NOT NULL,
    -- Half of them were decided faster.
    median_ms INTEGER NOT NULL
) STRICT;
