-- works-with: 0020
-- locks: nothing; it creates a table
-- Every time a referral was decided otherwise than before, and by whom. What was decided when the subscriber came is the
-- `before` of the first row. Rows are only added.
CREATE TABLE referral_decision (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    before_status TEXT NOT NULL,
    before_reason TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    note TEXT,
    decided_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX referral_decision_subscriber ON referral_decision (subscriber_id, id);
