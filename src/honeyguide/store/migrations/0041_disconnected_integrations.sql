-- works-with: 0020
-- locks: nothing; it creates a table
-- Platforms that were disconnected, until a job has deleted what is kept about their subscribers. The key is gone already.
CREATE TABLE disconnected_integration (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL
) STRICT;
