-- works-with: 0093
-- locks: nothing
-- Through whom somebody came who has not confirmed yet. `subscriber` shows the newest of their signups; each of the others has a row of
-- its own there, with this id, which is erased from the beginning and keeps its referral. What that signup said about the person is
-- here, so that it comes back if they press the button in its email.
--   due_ms   when its referral ends unless they confirm; NULL once it is decided
CREATE TABLE claim (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    name TEXT,
    ip_address TEXT,
    network TEXT,
    user_agent TEXT,
    utm_source TEXT,
    utm_campaign TEXT,
    claimed_code TEXT,
    due_ms INTEGER
) STRICT;
CREATE INDEX claim_of ON claim (subscriber_id, id);
CREATE INDEX claim_due ON claim (due_ms) WHERE due_ms IS NOT NULL;
