-- What happened, and who is told. An event keeps the exact bytes that are sent, until erasing a person drops them.

CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    -- Set for a v1 webhook, which belongs to the campaign; null for a v2 one, which belongs to the account.
    campaign_id TEXT,
    url TEXT NOT NULL,
    new_referral INTEGER,
    new_partner_referral INTEGER,
    reward_unlocked INTEGER,
    reward_redeemed INTEGER,
    secret TEXT NOT NULL,
    old_secret TEXT,
    old_secret_until_ms INTEGER,
    failing_since_ms INTEGER,
    warned_ms INTEGER,
    disabled_ms INTEGER,
    disabled_reason TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_account ON webhook (account_id, created_ms, id);

CREATE TABLE event (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT,
    subscriber_id TEXT,
    referrer_id TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX event_subscriber ON event (subscriber_id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX event_referrer ON event (referrer_id) WHERE referrer_id IS NOT NULL;
CREATE INDEX event_age ON event (created_ms);

-- One event on its way to one webhook. A worker that holds the lease sends it; only the lease's token may record the outcome.
CREATE TABLE delivery (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
    status TEXT NOT NULL DEFAULT 'pending',
    tries INTEGER NOT NULL DEFAULT 0,
    due_ms INTEGER NOT NULL,
    leased_until_ms INTEGER NOT NULL DEFAULT 0,
    lease_token TEXT,
    created_ms INTEGER NOT NULL,
    CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled'))
) STRICT;
CREATE UNIQUE INDEX delivery_once ON delivery (event_id, webhook_id);
CREATE INDEX delivery_due ON delivery (webhook_id, due_ms) WHERE status = 'pending';
CREATE INDEX delivery_log ON delivery (webhook_id, created_ms, id);

CREATE TABLE attempt (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    status_code INTEGER,
    latency_ms INTEGER NOT NULL,
    error TEXT,
    response TEXT,
    PRIMARY KEY (delivery_id, id)
) STRICT;
