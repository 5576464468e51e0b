-- works-with: 0020
-- locks: nothing; it creates a table
-- What an operator did on the dashboard and can still undo. When it is due, a job deletes the row and does it in the same transaction.
-- `subject_state` is what the subject was when it was asked for: if that changed, it is not done. Rows of one `batch_id` were asked
-- for together. `arguments` is a JSON object.
CREATE TABLE delayed_action (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_state TEXT NOT NULL,
    arguments TEXT NOT NULL,
    due_ms INTEGER NOT NULL
) STRICT;
-- A second tab finds what the first asked for.
CREATE UNIQUE INDEX delayed_action_subject ON delayed_action (subject_id, account_id);
CREATE INDEX delayed_action_batch ON delayed_action (account_id, batch_id);
CREATE INDEX delayed_action_due ON delayed_action (due_ms);
