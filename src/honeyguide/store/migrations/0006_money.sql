-- Every cent. A transfer moves an amount from one ledger account to another, so the books sum to zero by construction; nothing in
-- them is ever changed or deleted (the triggers beside this file see to that), corrections are new transfers.

CREATE TABLE transfer (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    -- What it is for, once: 'charge:<id>', 'payout:<id>', 'paid:<payout>:<n>', 'unpaid:<payout>:<n>'.
    reference TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    month TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    CHECK (kind IN ('charge', 'payout', 'paid', 'unpaid')),
    CHECK (amount_cents > 0),
    CHECK (debit <> credit)
) STRICT;
CREATE UNIQUE INDEX transfer_reference ON transfer (reference);
-- Holds all that a month's payouts are made of: they are summed from the index alone.
CREATE INDEX transfer_earned ON transfer (month, kind, credit, amount_cents);

-- A closed month takes no more entries. A charge share-locks its month's row, the close locks it exclusively.
CREATE TABLE period (
    month TEXT PRIMARY KEY,
    closed_ms INTEGER,
    paid_out_ms INTEGER
) STRICT;

-- What a program spent in a month over all its partners, and what each of its partners earned. There is no copy of the caps to
-- keep in step: whoever charges reads the program's own once they hold the budget's row. `reached_ms` is the latch after which
-- nothing more is charged that month, `nearly_ms` when four fifths were spent.
CREATE TABLE budget (
    program_id TEXT NOT NULL REFERENCES program (id),
    month TEXT NOT NULL,
    account_id TEXT NOT NULL,
    spent_cents INTEGER NOT NULL DEFAULT 0,
    nearly_ms INTEGER,
    reached_ms INTEGER,
    -- When owner and partners were told; a job does that, since there may be thousands of them.
    told_nearly_ms INTEGER,
    told_reached_ms INTEGER,
    PRIMARY KEY (program_id, month),
    CHECK (spent_cents >= 0)
) STRICT;
CREATE INDEX budget_nearly ON budget (month, program_id) WHERE nearly_ms IS NOT NULL AND told_nearly_ms IS NULL;
CREATE INDEX budget_reached ON budget (month, program_id) WHERE reached_ms IS NOT NULL AND told_reached_ms IS NULL;

CREATE TABLE partner_spend (
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    month TEXT NOT NULL,
    program_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    spent_cents INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (partner_campaign_id, month),
    CHECK (spent_cents >= 0)
) STRICT;
CREATE INDEX partner_spend_program ON partner_spend (program_id, month);
CREATE INDEX partner_spend_partner ON partner_spend (partner_account_id, month);

-- One per program and person, ever: the unique index is the promise. Each charge says how much was spent once it was made, and of
-- which cap: no two can claim the same step of a budget, and none can step over the cap it was made under.
CREATE TABLE charge (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    partner_referral_id TEXT NOT NULL REFERENCES partner_referral (id),
    person_key TEXT NOT NULL,
    month TEXT NOT NULL,
    fee_cents INTEGER NOT NULL,
    budget_spent_cents INTEGER NOT NULL,
    budget_cap_cents INTEGER NOT NULL,
    partner_spent_cents INTEGER NOT NULL,
    partner_cap_cents INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    CHECK (fee_cents > 0),
    CHECK (account_id <> partner_account_id),
    CHECK (budget_spent_cents >= fee_cents AND budget_spent_cents <= budget_cap_cents),
    CHECK (partner_spent_cents >= fee_cents AND partner_spent_cents <= partner_cap_cents)
) STRICT;
CREATE UNIQUE INDEX charge_once ON charge (program_id, person_key);
CREATE UNIQUE INDEX charge_budget_step ON charge (program_id, month, budget_spent_cents);
CREATE UNIQUE INDEX charge_partner_step ON charge (partner_campaign_id, month, partner_spent_cents);
CREATE INDEX charge_partner ON charge (partner_account_id, month, created_ms, id);
CREATE INDEX charge_owner ON charge (account_id, month, created_ms, id);

-- What waits, what was not charged and what was rejected, by program and by partner.
CREATE INDEX partner_referral_waiting ON partner_referral (program_id, partner_campaign_id) WHERE decided_ms IS NULL;
CREATE INDEX partner_referral_expected ON partner_referral (partner_account_id, partner_campaign_id) WHERE decided_ms IS NULL;
CREATE INDEX partner_referral_unspent ON partner_referral (program_id, charged_month) WHERE uncharged_reason IS NOT NULL;
CREATE INDEX partner_referral_unearned ON partner_referral (partner_account_id, charged_month) WHERE uncharged_reason IS NOT NULL;
CREATE INDEX partner_referral_lost ON partner_referral (partner_account_id, decided_ms) WHERE charged_month IS NULL;

CREATE TABLE payout (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    month TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    paid_ms INTEGER,
    paid_reference TEXT,
    -- How often it was marked and unmarked: numbers the transfers.
    marks INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL,
    CHECK (amount_cents > 0)
) STRICT;
CREATE UNIQUE INDEX payout_once ON payout (account_id, month);
CREATE INDEX payout_account ON payout (account_id, created_ms, id);
CREATE INDEX payout_month ON payout (month, id);

-- What an account was told: the bell of the dashboard. `once_key` makes a notice of a month or a cause come once.
CREATE TABLE notice (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    kind TEXT NOT NULL,
    once_key TEXT NOT NULL,
    sentence TEXT NOT NULL,
    link TEXT,
    created_ms INTEGER NOT NULL,
    read_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX notice_once ON notice (account_id, once_key);
CREATE INDEX notice_account ON notice (account_id, created_ms, id);
