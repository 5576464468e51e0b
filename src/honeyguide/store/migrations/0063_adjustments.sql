-- works-with: 0020
-- locks: subscriber, for reads and writes, for a moment
-- What an operator adds to an advocate's progress toward rewards, or takes off. Rows are only added. What they add up to is with
-- the subscriber, who is read far more often.
CREATE TABLE adjustment (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    subscriber_created_ms INTEGER NOT NULL,
    amount INTEGER NOT NULL CHECK (amount <> 0),
    reason TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    adjusted_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX adjustment_subscriber ON adjustment (subscriber_id, id);
-- For a new reward, which looks for those who have reached it already: not all of them are advocates.
CREATE INDEX adjustment_campaign ON adjustment (campaign_id, subscriber_created_ms, subscriber_id);
ALTER TABLE subscriber ADD COLUMN adjustments INTEGER NOT NULL DEFAULT 0;
