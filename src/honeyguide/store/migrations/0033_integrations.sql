-- works-with: 0020
-- locks: account and campaign, for writes, for a moment
-- Email platforms that a campaign is connected with, at most one per campaign. Disconnecting deletes the row, and with it the key.
--   status         active, paused, or failed: nothing is tried until somebody enters a new key or chooses another list
--   credentials    what the operator entered, encrypted; never shown again
--   key_hint       the last characters of the key, to recognize it by
--   field_names    JSON: what each of our values is called there
--   code_field     the platform's field in which its signup form keeps a referral code
--   adds_existing  whether subscribers from before the connection may be added there too
--   hook_key       the secret part of the URL that the platform's webhooks go to
--   next_call_ms   no request before then: the platform's pace, its Retry-After, or our own wait after failures (real time)
--   pass           the list that is being queued for writing, 'advocates' or 'all', and how far it has come; null: all are queued
--   read_token     the page of the platform's list to read next; read_since_ms what it was asked for, null for everyone
CREATE TABLE integration (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL REFERENCES campaign (id),
    platform TEXT NOT NULL,
    status TEXT NOT NULL,
    credentials TEXT NOT NULL,
    key_hint TEXT NOT NULL,
    audience_id TEXT NOT NULL,
    audience_name TEXT NOT NULL,
    field_names TEXT NOT NULL,
    code_field TEXT NOT NULL,
    adds_existing INTEGER NOT NULL,
    hook_key TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    lease_token TEXT,
    leased_until_ms INTEGER NOT NULL DEFAULT 0,
    next_call_ms INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    problem_ms INTEGER,
    pass TEXT,
    pass_ms INTEGER NOT NULL DEFAULT 0,
    pass_id TEXT NOT NULL DEFAULT '',
    is_reading INTEGER NOT NULL DEFAULT 1,
    read_since_ms INTEGER,
    read_token TEXT,
    read_began_ms INTEGER NOT NULL DEFAULT 0,
    next_read_ms INTEGER NOT NULL DEFAULT 0,
    next_full_read_ms INTEGER NOT NULL DEFAULT 0,
    first_sync_ms INTEGER,
    synced INTEGER NOT NULL DEFAULT 0,
    last_in_ms INTEGER,
    last_in_kind TEXT,
    last_out_ms INTEGER,
    last_out_count INTEGER NOT NULL DEFAULT 0,
    CHECK (status IN ('active', 'paused', 'failed')),
    CHECK (pass IN ('advocates', 'all'))
) STRICT;
CREATE UNIQUE INDEX integration_campaign ON integration (campaign_id);
CREATE UNIQUE INDEX integration_hook_key ON integration (hook_key);

-- What the platform has of one subscriber, and what is to be written.
--   remote_id  the platform's ID of them
--   written    JSON: a hash of the address, the status and the fields as they were last written; null: never
--   due_ms     when to write; null: nothing to write; 0: a change, which goes before the first sync
--   reason     why the last try failed; failed_ms when we gave up
CREATE TABLE integration_subscriber (
    integration_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    remote_id TEXT,
    written TEXT,
    synced_ms INTEGER,
    due_ms INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    failed_ms INTEGER,
    PRIMARY KEY (integration_id, subscriber_id)
) STRICT;
CREATE INDEX integration_subscriber_due ON integration_subscriber (integration_id, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX integration_subscriber_failed ON integration_subscriber (integration_id, failed_ms) WHERE failed_ms IS NOT NULL;
CREATE INDEX integration_subscriber_remote ON integration_subscriber (integration_id, remote_id) WHERE remote_id IS NOT NULL;

-- Webhooks of platforms as they came. The content is dropped once it is applied; the digest stays for a while, so that a repeated
-- one is recognized.
CREATE TABLE integration_event (
    id TEXT PRIMARY KEY,
    integration_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    content TEXT,
    received_ms INTEGER NOT NULL,
    due_ms INTEGER,
    tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX integration_event_digest ON integration_event (integration_id, digest);
CREATE INDEX integration_event_due ON integration_event (integration_id, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX integration_event_age ON integration_event (received_ms);
