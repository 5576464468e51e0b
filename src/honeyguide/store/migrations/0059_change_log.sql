-- works-with: 0020
-- locks: nothing; it creates a table
-- Who changed what and when: settings, decisions made by hand, and money. `before` and `after` are JSON objects of what differs.
CREATE TABLE change_log (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    action TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    before TEXT,
    after TEXT,
    changed_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX change_log_account ON change_log (account_id, id);
CREATE INDEX change_log_subject ON change_log (subject_id, account_id);
CREATE INDEX change_log_actor ON change_log (actor_id, account_id);
CREATE INDEX change_log_changed ON change_log (changed_ms);
