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

-- The offer of one publication.
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
    CHECK (max_payout_cents >= 0 AND total_budget_cents >= 0 AND cpa_cents >= 0)
) STRICT;
CREATE UNIQUE INDEX program_publication ON program (publication_id) WHERE deleted_ms IS NULL;
CREATE INDEX program_account ON program (account_id, created_ms, id) WHERE deleted_ms IS NULL;

-- The network's directory has the programs that are listed, and no other: where each stands in each order, and the words it is
-- found by. `traits` has a bit for each word of the catalogue that describes the publication; what lists filter by is in every
-- row and index, so that stepping along one needs nothing else.
CREATE TABLE network_place (
    program_id TEXT NOT NULL REFERENCES program (id),
    sort TEXT NOT NULL,
    account_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    traits INTEGER NOT NULL,
    cpa_cents INTEGER NOT NULL,
    PRIMARY KEY (program_id, sort)
) STRICT;
CREATE INDEX network_place_order ON network_place (sort, position, program_id, traits, cpa_cents);

-- Words of the publication's name, description and categories, and its traits as words. `shared` is how many letters a word
-- begins with as the program's word before it in the dictionary does.
CREATE TABLE network_word (
    program_id TEXT NOT NULL REFERENCES program (id),
    word TEXT NOT NULL,
    shared INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    traits INTEGER NOT NULL,
    cpa_cents INTEGER NOT NULL,
    max_payout_cents INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (program_id, word)
) STRICT;
CREATE INDEX network_word_found
ON network_word (word, shared, traits, cpa_cents, max_payout_cents, created_ms, program_id);

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
