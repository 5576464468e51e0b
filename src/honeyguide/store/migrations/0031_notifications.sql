-- works-with: 0020
-- locks: account, campaign, notice and period, for reads and writes, for a moment
-- How accounts want to be notified, what waits for a digest or for Slack, and when the next weekly summary is due.

-- A choice that differs from the default of its kind (`mail/notification_kinds.py`).
CREATE TABLE notification_choice (
    account_id TEXT NOT NULL REFERENCES account (id),
    kind TEXT NOT NULL,
    delivery TEXT NOT NULL,
    to_slack INTEGER NOT NULL,
    PRIMARY KEY (account_id, kind),
    CHECK (delivery IN ('dashboard', 'at_once', 'daily', 'weekly', 'off'))
) STRICT;

-- The daily or weekly email that a notification waits for. Null if it waits for none, or was sent.
ALTER TABLE notice ADD COLUMN digest_due_ms INTEGER;
CREATE INDEX notice_digest ON notice (digest_due_ms) WHERE digest_due_ms IS NOT NULL;

-- Where an account's notifications are posted, too. `error` says why posting fails, since `failed_ms`.
CREATE TABLE slack_webhook (
    account_id TEXT PRIMARY KEY REFERENCES account (id),
    encrypted_url TEXT NOT NULL,
    host TEXT NOT NULL,
    error TEXT,
    failed_ms INTEGER
) STRICT;

-- A notification to post. Its row is deleted when it is posted or given up.
CREATE TABLE slack_message (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    sentence TEXT NOT NULL,
    link TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    lease_token TEXT
) STRICT;
CREATE INDEX slack_message_due ON slack_message (due_ms);
CREATE INDEX slack_message_account ON slack_message (account_id);

-- When to look next whether the weekly summary is due, and the Monday of the last one. 0: not looked at yet.
ALTER TABLE account ADD COLUMN weekly_due_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN weekly_monday TEXT;
CREATE INDEX account_weekly ON account (weekly_due_ms);

-- The first referral of which the operator was notified. Older campaigns with referrals had theirs.
ALTER TABLE campaign ADD COLUMN first_referral_ms INTEGER;
UPDATE campaign SET first_referral_ms = created_ms
WHERE EXISTS (SELECT 1 FROM subscriber AS s WHERE s.campaign_id = campaign.id AND s.referrer_code IS NOT NULL);

-- How far accounts were notified of a closed month: owners by program, then partners by account, then administrators.
ALTER TABLE period ADD COLUMN notified_program TEXT NOT NULL DEFAULT '';
ALTER TABLE period ADD COLUMN notified_partner TEXT NOT NULL DEFAULT '';
ALTER TABLE period ADD COLUMN notified_ms INTEGER;
UPDATE period SET notified_ms = paid_out_ms WHERE paid_out_ms IS NOT NULL;
