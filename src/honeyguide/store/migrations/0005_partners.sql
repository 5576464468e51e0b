-- Publications, the paid offers they make, who joined them, and whom each partner brought.

CREATE TABLE logo (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    content_type TEXT NOT NULL,
    -- Null where logos are kept in a folder instead.
    data BLOB,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE publication (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    description TEXT,
    categories TEXT NOT NULL,
    list_id TEXT,
    status TEXT NOT NULL DEFAULT 'active',
    logo_id TEXT NOT NULL REFERENCES logo (id),
    enabled_partner_program INTEGER NOT NULL DEFAULT 0,
    audience_gender TEXT NOT NULL,
    income_levels TEXT NOT NULL,
    age_ranges TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER,
    CHECK (status IN ('active', 'archived'))
) STRICT;
CREATE INDEX publication_account ON publication (account_id, created_ms, id) WHERE deleted_ms IS NULL;

-- The offer of one publication. The columns below `card` copy what the network filters and sorts by, so that its list is a walk
-- along one index; `listed` says whether it is in the directory.
CREATE TABLE program (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    publication_id TEXT NOT NULL REFERENCES publication (id),
    terms TEXT,
    resources_url TEXT,
    redirect_url TEXT NOT NULL,
    slug TEXT,
    thankyou_page_url TEXT,
    show_in_directory INTEGER NOT NULL DEFAULT 0,
    referral_pending_duration INTEGER NOT NULL DEFAULT 14,
    referral_pending_duration_enabled INTEGER NOT NULL DEFAULT 0,
    max_payout_cents INTEGER NOT NULL,
    total_budget_cents INTEGER NOT NULL,
    cpa_cents INTEGER NOT NULL,
    paused_ms INTEGER,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER,
    -- card
    listed INTEGER NOT NULL DEFAULT 0,
    search_text TEXT NOT NULL DEFAULT '',
    category_mask INTEGER NOT NULL DEFAULT 0,
    income_mask INTEGER NOT NULL DEFAULT 0,
    age_mask INTEGER NOT NULL DEFAULT 0,
    audience_gender TEXT NOT NULL DEFAULT '',
    confirmation_rate_bp INTEGER NOT NULL DEFAULT -1,
    CHECK (max_payout_cents >= 0 AND total_budget_cents >= 0 AND cpa_cents >= 0)
) STRICT;
CREATE UNIQUE INDEX program_publication ON program (publication_id) WHERE deleted_ms IS NULL;
CREATE INDEX program_account ON program (account_id, created_ms, id) WHERE deleted_ms IS NULL;
CREATE INDEX program_by_age ON program (created_ms, id) WHERE listed = 1;
CREATE INDEX program_by_cpa ON program (cpa_cents, id) WHERE listed = 1;
CREATE INDEX program_by_payout ON program (max_payout_cents, id) WHERE listed = 1;
CREATE INDEX program_by_rate ON program (confirmation_rate_bp, id) WHERE listed = 1;

-- A partner who joined a program. `account_id` is the partner's, `owner_account_id` the program owner's.
CREATE TABLE partner_campaign (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    owner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    ref_code TEXT NOT NULL,
    reason_for_recommending TEXT,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX partner_campaign_once ON partner_campaign (account_id, program_id);
CREATE UNIQUE INDEX partner_campaign_code ON partner_campaign (ref_code);
CREATE INDEX partner_campaign_program ON partner_campaign (program_id, created_ms, id);

-- A reader a partner brought, with the fee as it was on arrival. The referral's state is the subscriber's own; here is what it
-- costs, or why nothing. `account_id` is the program owner's.
CREATE TABLE partner_referral (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    subscriber_id TEXT NOT NULL REFERENCES subscriber (id),
    person_key TEXT NOT NULL,
    fee_cents INTEGER NOT NULL,
    arrived_ms INTEGER NOT NULL,
    decided_ms INTEGER,
    charged_cents INTEGER,
    charged_month TEXT,
    uncharged_reason TEXT
) STRICT;
CREATE UNIQUE INDEX partner_referral_subscriber ON partner_referral (subscriber_id);
CREATE INDEX partner_referral_program ON partner_referral (program_id, arrived_ms, id);
CREATE INDEX partner_referral_partner ON partner_referral (partner_account_id, arrived_ms, id);
CREATE INDEX partner_referral_open ON partner_referral (partner_campaign_id, arrived_ms) WHERE decided_ms IS NULL;

-- How many of a program's referrals were confirmed or not, by UTC day of the decision: the confirmation rate of 30 days.
CREATE TABLE program_day (
    program_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    verified INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (program_id, day)
) STRICT;

-- Is this person, under any spelling of their address, a subscriber already?
CREATE INDEX subscriber_person ON subscriber (campaign_id, person_key) WHERE erased_ms IS NULL;
