-- works-with: 0060
-- locks: partner_referral, for reads and writes, for a moment
-- What a paid referral must meet, as its program had it when the referral came. Without a rule the referral is from a program
-- that has no verification settings. The version before, which may run beside this one, leaves them out.
ALTER TABLE partner_referral ADD COLUMN rule TEXT;
ALTER TABLE partner_referral ADD COLUMN screening TEXT;
ALTER TABLE partner_referral ADD COLUMN hold_until_ms INTEGER;

-- What speaks for or against a referral. `points` are against it; below zero they are for it. The value is forgotten some
-- time after the decision.
CREATE TABLE evidence (
    subscriber_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    points INTEGER NOT NULL,
    value TEXT,
    found_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, code)
) STRICT;
CREATE INDEX evidence_value ON evidence (found_ms) WHERE value IS NOT NULL;

-- Referral codes with which somebody came, until a job has looked at what those who came with it have in common.
CREATE TABLE code_look (
    campaign_id TEXT NOT NULL,
    code TEXT NOT NULL,
    account_id TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, code)
) STRICT;
CREATE INDEX code_look_since ON code_look (since_ms);
