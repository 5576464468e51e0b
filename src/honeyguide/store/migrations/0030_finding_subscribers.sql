-- works-with: 0020
-- locks: nothing; it creates tables
-- What operators add to find subscribers again. Erasing a subscriber deletes their tags and notes, and the saved filters that name them.

-- A tag is lower-case text; it is there as long as somebody has it.
CREATE TABLE subscriber_tag (
    subscriber_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    tagged_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, tag)
) STRICT;
CREATE INDEX subscriber_tag_name ON subscriber_tag (campaign_id, tag, subscriber_id);

CREATE TABLE subscriber_note (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    text TEXT NOT NULL,
    written_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX subscriber_note_subscriber ON subscriber_note (subscriber_id, written_ms, id);

-- `query` is the part of the URL after the question mark.
CREATE TABLE saved_filter (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    saved_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX saved_filter_name ON saved_filter (campaign_id, name);
