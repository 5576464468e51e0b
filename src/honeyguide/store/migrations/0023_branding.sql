-- works-with: 0016
-- locks: account and logo, for writes, for a moment
-- How the pages and emails of a campaign look, and what readers agreed to when they signed up.

-- A consent text as readers saw it. A changed text is a new row: what somebody agreed to never changes.
CREATE TABLE consent_text (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL,
    text TEXT NOT NULL,
    privacy_url TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX consent_text_campaign ON consent_text (campaign_id, created_ms);

-- At most one per campaign; without one, pages have the logo of the account's first publication and our colors.
--   icon_id          made from the logo unless somebody uploaded one (icon_is_own)
--   share_id         the picture shown with shared links; made by us unless somebody uploaded one (share_is_own)
--   share_source     a hash of what the picture was made from, so that it is made again only when that changes
--   consent_text_id  null: no checkbox
CREATE TABLE campaign_brand (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    accent TEXT,
    logo_id TEXT REFERENCES logo (id),
    icon_id TEXT REFERENCES logo (id),
    icon_is_own INTEGER NOT NULL DEFAULT 0,
    share_id TEXT REFERENCES logo (id),
    share_is_own INTEGER NOT NULL DEFAULT 0,
    share_source TEXT NOT NULL DEFAULT '',
    privacy_url TEXT,
    imprint_url TEXT,
    consent_text_id TEXT REFERENCES consent_text (id),
    asks_name INTEGER NOT NULL DEFAULT 0,
    language TEXT NOT NULL DEFAULT 'en',
    follow_browser_language INTEGER NOT NULL DEFAULT 0,
    from_name TEXT,
    reply_to TEXT,
    show_leaderboard INTEGER NOT NULL DEFAULT 0,
    show_inviter INTEGER NOT NULL DEFAULT 0,
    changed_ms INTEGER NOT NULL
) STRICT;

-- Who agreed to which text, and when first. Erasing a subscriber deletes their rows.
CREATE TABLE consent (
    subscriber_id TEXT NOT NULL,
    consent_text_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    agreed_ms INTEGER NOT NULL,
    PRIMARY KEY (subscriber_id, consent_text_id)
) STRICT;
