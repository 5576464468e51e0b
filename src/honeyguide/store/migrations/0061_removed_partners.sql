-- works-with: 0060
-- locks: partner_campaign, for reads and writes, for a moment
-- What each side decided about a partner campaign: `left_ms` is the partner's, `removed_ms` the owner's. The version
-- before, which may run beside this one, knows neither and counts what comes with the code.
ALTER TABLE partner_campaign ADD COLUMN left_ms INTEGER;
ALTER TABLE partner_campaign ADD COLUMN removed_ms INTEGER;
ALTER TABLE partner_campaign ADD COLUMN removed_reason TEXT;

-- Whom an owner (`account_id`) keeps out of all their programs, also of those that do not exist yet.
CREATE TABLE partner_block (
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    reason TEXT,
    blocked_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, partner_account_id)
) STRICT;
