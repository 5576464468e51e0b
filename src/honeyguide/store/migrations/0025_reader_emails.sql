-- works-with: 0020
-- locks: letter, for reads and writes, for a moment
-- Where replies to an email go, and where its reader stops such emails. An email without `unsubscribe_url` is one that somebody asked for.
ALTER TABLE letter ADD COLUMN reply_to TEXT;
ALTER TABLE letter ADD COLUMN unsubscribe_url TEXT;

-- Subscribers who stopped the emails that nobody asked for. They stay subscribed. Erasing a subscriber deletes the row.
CREATE TABLE email_stop (
    subscriber_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    stopped_ms INTEGER NOT NULL
) STRICT;
