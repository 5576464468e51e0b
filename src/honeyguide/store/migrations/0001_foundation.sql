-- Accounts, keys, campaigns, subscribers, and what keeps their lists countable. One text for both engines.

CREATE TABLE instance (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE account (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    name TEXT,
    password_hash TEXT,
    is_admin INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX account_email ON account (email_key);

CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    prefix TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    last_used_ms INTEGER,
    revoked_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX api_key_digest ON api_key (digest);
CREATE INDEX api_key_account ON api_key (account_id, created_ms);

-- One per account, made with it.
CREATE TABLE campaign (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    destination_url TEXT,
    screening TEXT NOT NULL DEFAULT 'flexible',
    hold_days INTEGER NOT NULL DEFAULT 0,
    needs_confirmation INTEGER NOT NULL DEFAULT 0,
    words TEXT NOT NULL DEFAULT '{}',
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX campaign_account ON campaign (account_id);

-- A person in a campaign, how they came, and what was decided about that. Erasing a person nulls what is personal and keeps
-- the row: codes, states and money stay true. `created_ms` may be the client's (display and order only); `received_ms` is ours.
-- `campaign_id` and `referrer_id` are no foreign keys: neither is ever deleted, and PostgreSQL would look up and lock both rows
-- for every signup, the campaign's one row among them.
CREATE TABLE subscriber (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    email TEXT,
    email_key TEXT,
    person_key TEXT NOT NULL,
    name TEXT,
    ref_code TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'active',
    referrer_code TEXT,
    claimed_code TEXT,
    referrer_id TEXT,
    partner_campaign_id TEXT,
    referral_status TEXT NOT NULL DEFAULT 'verified',
    referral_reason TEXT,
    referral_due_ms INTEGER,
    referral_behind TEXT,
    decided_by TEXT,
    decided_ms INTEGER,
    referrals_verified INTEGER NOT NULL DEFAULT 0,
    referrals_pending INTEGER NOT NULL DEFAULT 0,
    referrals_rejected INTEGER NOT NULL DEFAULT 0,
    is_advocate INTEGER NOT NULL DEFAULT 0,
    is_star INTEGER NOT NULL DEFAULT 0,
    ip_address TEXT,
    network TEXT,
    user_agent TEXT,
    origin TEXT NOT NULL,
    utm_source TEXT,
    utm_campaign TEXT,
    created_ms INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    erased_ms INTEGER,
    CHECK (referral_status IN ('verified', 'pending', 'rejected')),
    CHECK (status IN ('active', 'unsubscribed', 'confirmed')),
    CHECK (referrals_verified >= 0 AND referrals_pending >= 0 AND referrals_rejected >= 0)
) STRICT;
-- Partial, so that PostgreSQL does not take it for a key that others may refer to: erasing a person, which nulls the email, then does
-- not wait for whoever signs up with their code (and they for it: a deadlock).
CREATE UNIQUE INDEX subscriber_email ON subscriber (campaign_id, email_key) WHERE email_key IS NOT NULL;
CREATE UNIQUE INDEX subscriber_ref_code ON subscriber (ref_code);
CREATE INDEX subscriber_list ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL;
CREATE INDEX subscriber_referred ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND referrer_code IS NOT NULL;
CREATE INDEX subscriber_advocates ON subscriber (campaign_id, created_ms, id) WHERE erased_ms IS NULL AND is_advocate = 1;
CREATE INDEX subscriber_referrals ON subscriber (referrer_id, created_ms, id) WHERE erased_ms IS NULL AND referrer_id IS NOT NULL;
-- How many came with one code lately: screening asks.
CREATE INDEX subscriber_arrivals ON subscriber (campaign_id, referrer_code, received_ms) WHERE referrer_code IS NOT NULL;

-- Who brought most: beside the person, so that a count that grows rewrites this short row's index and none of the long row's.
CREATE TABLE advocate (
    subscriber_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    verified INTEGER NOT NULL
) STRICT;
CREATE INDEX advocate_best ON advocate (campaign_id, verified, subscriber_id);

-- How long a list is and where its runs of about a thousand begin. A list is `<campaign>/all`, `<campaign>/referrals`,
-- `<campaign>/advocates` or `<subscriber>/brought` (kept for stars of over 1,000). Triggers note what changes (`count_note`); the
-- fold sums the notes up later, so that writers never queue for a counter.
CREATE TABLE listing (
    list TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    n INTEGER NOT NULL
) STRICT;

CREATE TABLE listing_run (
    list TEXT NOT NULL,
    account_id TEXT NOT NULL,
    lo_ms INTEGER NOT NULL,
    lo_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (list, lo_ms, lo_id)
) STRICT;

-- Signups by the day they say they came, and what their referral is now, from the same notes: no page counts people.
CREATE TABLE campaign_day (
    campaign_id TEXT NOT NULL,
    day_ms INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    signups INTEGER NOT NULL DEFAULT 0,
    verified INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (campaign_id, day_ms)
) STRICT;

-- An answer already given to a POST with an Idempotency-Key. `about` is the uuid it told of, so that erasing can find it.
CREATE TABLE idempotency (
    account_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER,
    body TEXT,
    about TEXT,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, idempotency_key)
) STRICT;
CREATE INDEX idempotency_about ON idempotency (account_id, about) WHERE about IS NOT NULL;
CREATE INDEX idempotency_age ON idempotency (created_ms);

-- Which process does a time-driven job just now.
CREATE TABLE job_lease (
    name TEXT PRIMARY KEY,
    leased_until_ms INTEGER NOT NULL
) STRICT;
