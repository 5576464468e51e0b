-- works-with: 0060
-- locks: subscriber (briefly)
-- Codes that a subscriber has besides `subscriber.ref_code`: those of another tool, and those that somebody chose. Unique in the
-- campaign as they are written; `folded` is in lower case. They are never freed: an erasure leaves a keyed hash.
CREATE TABLE subscriber_code (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL REFERENCES subscriber (id),
    code TEXT NOT NULL,
    folded TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('imported', 'chosen')),
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX subscriber_code_once ON subscriber_code (campaign_id, code);
CREATE INDEX subscriber_code_folded ON subscriber_code (campaign_id, folded);
CREATE INDEX subscriber_code_of ON subscriber_code (subscriber_id, created_ms);
