-- works-with: 0020
-- locks: account, for writes, for a moment
-- The block with each subscriber's own link that an operator puts into every issue, as last tested. At most one per campaign.
CREATE TABLE newsletter_block (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    tool TEXT NOT NULL,
    heading TEXT NOT NULL,
    style TEXT NOT NULL,
    tested_ms INTEGER NOT NULL
) STRICT;
