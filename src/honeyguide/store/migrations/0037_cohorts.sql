-- works-with: 0020
-- locks: subscriber, for reads and writes, for a moment, and account, for writes
-- Who joined on each day and what became of them, counted by a job, so that the overview of a large campaign stays fast.

-- When somebody unsubscribed. Null for those who did before this was recorded, or were unsubscribed when they were added.
ALTER TABLE subscriber ADD COLUMN unsubscribed_ms INTEGER;

-- People by the day they joined in the account's time zone (2026-11-15), each day counted several times: by `kind`, each with its own
-- keys (referrals/cohorts.sql). `followed` are those whose whole time we know; `left_30` of them unsubscribed within 30 days.
CREATE TABLE cohort_count (
    campaign_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    day TEXT NOT NULL,
    key TEXT NOT NULL,
    account_id TEXT NOT NULL,
    joined INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    followed INTEGER NOT NULL,
    left_30 INTEGER NOT NULL,
    left_90 INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, kind, day, key)
) STRICT;

-- UTC days whose people changed since they were counted; `n` grows with every change.
CREATE TABLE cohort_change (
    campaign_id TEXT NOT NULL,
    day_ms INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, day_ms)
) STRICT;

-- In which zone a campaign's days were cut, and when all of them were last counted.
CREATE TABLE cohort_state (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    zone TEXT NOT NULL,
    built_ms INTEGER
) STRICT;

-- Clicks on all links of an account by the site they came from ('' if the browser does not say), in quarters of an hour, at which
-- every time zone's days begin.
CREATE TABLE click_source (
    account_id TEXT NOT NULL REFERENCES account (id),
    quarter_ms INTEGER NOT NULL,
    host TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (account_id, quarter_ms, host)
) STRICT;

INSERT INTO cohort_change (campaign_id, day_ms, account_id, n) SELECT campaign_id, day_ms, account_id, 1 FROM campaign_day;
-- Older clicks were counted by UTC day. At noon UTC it is the same day in nearly all zones.
INSERT INTO click_source (account_id, quarter_ms, host, n)
SELECT account_id, day_ms + 43200000, '', SUM(n) FROM click_day WHERE code = '' GROUP BY account_id, day_ms;
