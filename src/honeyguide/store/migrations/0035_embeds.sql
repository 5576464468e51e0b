-- works-with: 0020
-- locks: account, for writes, for a moment
-- What a campaign's own websites may use. At most one row per campaign; without one, nothing can be embedded.
--   public_id      stands in the website's HTML; it opens nothing but the public endpoints
--   origins        the websites that may call these, one per line, such as https://example.com
--   keep_days      how long a browser keeps the code of a referral; 0: until it is closed
--   form_selector  the operator's own form, if it is not marked in the HTML
CREATE TABLE embed (
    campaign_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    public_id TEXT NOT NULL UNIQUE,
    origins TEXT NOT NULL,
    keep_days INTEGER NOT NULL,
    form_selector TEXT NOT NULL,
    changed_ms INTEGER NOT NULL
) STRICT;
