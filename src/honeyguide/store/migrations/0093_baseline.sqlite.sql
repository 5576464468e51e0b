-- works-with: 0093
-- locks: nothing in a new database
-- What a change does to the counts: of the lists of `owner_id` (a campaign, or a star) and of the campaign's days.
CREATE TABLE count_note (
    owner_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    subscriber_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    n_all INTEGER NOT NULL DEFAULT 0,
    n_referrals INTEGER NOT NULL DEFAULT 0,
    n_advocates INTEGER NOT NULL DEFAULT 0,
    n_brought INTEGER NOT NULL DEFAULT 0,
    verified INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner_id, created_ms, subscriber_id)
) STRICT, WITHOUT ROWID;

-- The feed of changed subscribers, for campaigns that have an integration. A change adds a row and waits for nobody; whoever reads
-- the feed deletes what it read.
CREATE TABLE subscriber_change (
    seq INTEGER PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL
) STRICT;
CREATE INDEX subscriber_change_campaign ON subscriber_change (campaign_id, seq);

-- A charge can be reversed: a second row of `charge` with the negative fee, in the month of the charge. Charges and reversals are
-- numbered by program and month, by partner campaign and month, and by program and person: no number occurs twice, so no two rows
-- can begin with the same total. Of a person's rows the odd ones are charges: there is never a second one before a reversal.
CREATE TABLE charge (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    partner_account_id TEXT NOT NULL,
    program_id TEXT NOT NULL REFERENCES program (id),
    partner_campaign_id TEXT NOT NULL REFERENCES partner_campaign (id),
    partner_referral_id TEXT NOT NULL REFERENCES partner_referral (id),
    person_key TEXT NOT NULL,
    person_step INTEGER NOT NULL,
    month TEXT NOT NULL,
    fee_cents INTEGER NOT NULL,
    budget_step INTEGER NOT NULL,
    budget_spent_cents INTEGER NOT NULL,
    budget_cap_cents INTEGER NOT NULL,
    partner_step INTEGER NOT NULL,
    partner_spent_cents INTEGER NOT NULL,
    partner_cap_cents INTEGER NOT NULL,
    reverses_id TEXT REFERENCES charge (id),
    reversal_reason TEXT,
    created_ms INTEGER NOT NULL,
    CHECK (fee_cents <> 0),
    CHECK ((fee_cents < 0) = (reverses_id IS NOT NULL)),
    CHECK ((fee_cents < 0) = (reversal_reason IS NOT NULL)),
    CHECK ((fee_cents > 0) = (person_step % 2 = 1)),
    CHECK (account_id <> partner_account_id),
    CHECK (budget_spent_cents >= MAX(fee_cents, 0) AND (fee_cents < 0 OR budget_spent_cents <= budget_cap_cents)),
    CHECK (partner_spent_cents >= MAX(fee_cents, 0) AND (fee_cents < 0 OR partner_spent_cents <= partner_cap_cents))
) STRICT;
CREATE UNIQUE INDEX charge_once ON charge (program_id, person_key, person_step);
CREATE UNIQUE INDEX charge_budget_step ON charge (program_id, month, budget_step);
CREATE UNIQUE INDEX charge_partner_step ON charge (partner_campaign_id, month, partner_step);
CREATE UNIQUE INDEX charge_reversed ON charge (reverses_id) WHERE reverses_id IS NOT NULL;
CREATE INDEX charge_partner ON charge (partner_account_id, month, created_ms, id);
CREATE INDEX charge_owner ON charge (account_id, month, created_ms, id);

CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_all, n_referrals, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, 1, NEW.referrer_code IS NOT NULL,
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'verified',
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'pending',
        NEW.referrer_code IS NOT NULL AND NEW.referral_status = 'rejected'
    );
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
    SELECT id, NEW.created_ms, NEW.id, account_id, 1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1;
END;

CREATE TRIGGER subscriber_is_judged AFTER UPDATE OF referral_status ON subscriber
WHEN OLD.referral_status <> NEW.referral_status AND NEW.referrer_code IS NOT NULL AND OLD.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id,
        (NEW.referral_status = 'verified') - (OLD.referral_status = 'verified'),
        (NEW.referral_status = 'pending') - (OLD.referral_status = 'pending'),
        (NEW.referral_status = 'rejected') - (OLD.referral_status = 'rejected')
    ) ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET verified = verified + excluded.verified,
        pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified') - (OLD.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending') - (OLD.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected') - (OLD.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
END;

CREATE TRIGGER subscriber_brought AFTER UPDATE OF referrals_verified ON subscriber
WHEN OLD.referrals_verified <> NEW.referrals_verified AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO advocate (subscriber_id, account_id, campaign_id, verified)
    VALUES (NEW.id, NEW.account_id, NEW.campaign_id, NEW.referrals_verified)
    ON CONFLICT (subscriber_id) DO UPDATE SET verified = excluded.verified;
END;

-- Seldom: the flags have indexes, so a count that grows leaves them alone unless it must not.
CREATE TRIGGER subscriber_turns AFTER UPDATE OF referrals_verified, referrals_pending, referrals_rejected ON subscriber
WHEN NEW.is_advocate <> (NEW.referrals_verified > 0)
  OR NEW.is_star < (NEW.referrals_verified + NEW.referrals_pending + NEW.referrals_rejected >= 1000) BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_advocates)
    SELECT NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, (NEW.referrals_verified > 0) - NEW.is_advocate
    WHERE NEW.is_advocate <> (NEW.referrals_verified > 0) AND NEW.erased_ms IS NULL
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_advocates = n_advocates + excluded.n_advocates;
    UPDATE subscriber SET is_advocate = NEW.referrals_verified > 0,
        is_star = max(is_star, NEW.referrals_verified + NEW.referrals_pending + NEW.referrals_rejected >= 1000)
    WHERE id = NEW.id;
END;

CREATE TRIGGER subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    INSERT INTO count_note (
        owner_id, created_ms, subscriber_id, account_id, n_all, n_referrals, n_advocates, verified, pending, rejected
    ) VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, -1, -(OLD.referrer_code IS NOT NULL), -OLD.is_advocate,
        -(OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'verified'),
        -(OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'pending'),
        -(OLD.referrer_code IS NOT NULL AND OLD.referral_status = 'rejected')
    ) ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_all = n_all - 1,
        n_referrals = n_referrals + excluded.n_referrals, n_advocates = n_advocates + excluded.n_advocates,
        verified = verified + excluded.verified, pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
    DELETE FROM advocate WHERE subscriber_id = OLD.id;
    UPDATE subscriber SET
        referrals_verified = referrals_verified - (OLD.referral_status = 'verified'),
        referrals_pending = referrals_pending - (OLD.referral_status = 'pending'),
        referrals_rejected = referrals_rejected - (OLD.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
    SELECT id, NEW.created_ms, NEW.id, account_id, -1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_brought = n_brought - 1;
END;

-- Every campaign holds its address from the moment it is made.
CREATE TRIGGER campaign_takes_slug AFTER INSERT ON campaign BEGIN
    INSERT INTO slug (slug, account_id, kind, target_id) VALUES (NEW.slug, NEW.account_id, 'campaign', NEW.id);
END;

CREATE TRIGGER transfer_stays BEFORE UPDATE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER transfer_is_kept BEFORE DELETE ON transfer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER charge_stays BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER transfer_is_not_replaced BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM transfer WHERE id = NEW.id OR reference = NEW.reference)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER charge_is_not_replaced BEFORE INSERT ON charge
WHEN EXISTS (SELECT 1 FROM charge WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND person_key = NEW.person_key AND person_step = NEW.person_step)
  OR EXISTS (SELECT 1 FROM charge WHERE program_id = NEW.program_id AND month = NEW.month AND budget_step = NEW.budget_step)
  OR EXISTS (SELECT 1 FROM charge WHERE partner_campaign_id = NEW.partner_campaign_id AND month = NEW.month
             AND partner_step = NEW.partner_step)
  OR EXISTS (SELECT 1 FROM charge WHERE reverses_id = NEW.reverses_id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER transfer_month_is_open BEFORE INSERT ON transfer
WHEN EXISTS (SELECT 1 FROM period WHERE month = NEW.month AND closed_ms IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;

CREATE TRIGGER period_stays_closed BEFORE UPDATE OF month, closed_ms ON period WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;

CREATE TRIGGER period_is_kept BEFORE DELETE ON period WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the month is closed'); END;

CREATE TRIGGER subscriber_change_joins AFTER INSERT ON subscriber
WHEN EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;

CREATE TRIGGER subscriber_change_changes AFTER UPDATE OF email, name, status, referrals_verified, referral_status, erased_ms
ON subscriber
WHEN (
    OLD.email IS NOT NEW.email OR OLD.name IS NOT NEW.name OR OLD.status <> NEW.status
    OR OLD.referrals_verified <> NEW.referrals_verified OR OLD.referral_status <> NEW.referral_status
    OR OLD.erased_ms IS NOT NEW.erased_ms
) AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;

CREATE TRIGGER subscriber_change_earns AFTER INSERT ON won_reward
WHEN EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.subscriber_id);
END;

CREATE TRIGGER subscriber_change_gets AFTER UPDATE OF status, coupon_code ON won_reward
WHEN EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.subscriber_id);
END;

-- What was written to a platform about somebody, their address included, goes when they are erased. The platform's ID stays until
-- our fields are empty there.
CREATE TRIGGER integration_subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    UPDATE integration_subscriber SET written = NULL, reason = NULL
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
END;

-- A change of status changes no total, but the cohort of that day must be counted again.
CREATE TRIGGER subscriber_status_changes AFTER UPDATE OF status ON subscriber
WHEN OLD.status <> NEW.status AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id)
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO NOTHING;
END;

-- In the statement that makes them confirmed, whichever it is, and also one of an older version that runs beside this one.
CREATE TRIGGER subscriber_confirms AFTER UPDATE OF status ON subscriber
WHEN NEW.status = 'confirmed' AND NEW.must_confirm = 1 BEGIN
    UPDATE subscriber SET must_confirm = 0 WHERE id = NEW.id;
END;

-- Who came with an unknown code can get a referrer later. This counts the referral like one that was there from the start.
-- The statement sets the referral's status first, while there is no referrer, so that `subscriber_is_judged` counts nothing.
CREATE TRIGGER subscriber_is_referred AFTER UPDATE OF referrer_code ON subscriber
WHEN OLD.referrer_code IS NULL AND NEW.referrer_code IS NOT NULL AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_referrals, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, 1,
        NEW.referral_status = 'verified', NEW.referral_status = 'pending', NEW.referral_status = 'rejected'
    ) ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_referrals = n_referrals + 1,
        verified = verified + excluded.verified, pending = pending + excluded.pending, rejected = rejected + excluded.rejected;
    UPDATE subscriber SET
        referrals_verified = referrals_verified + (NEW.referral_status = 'verified'),
        referrals_pending = referrals_pending + (NEW.referral_status = 'pending'),
        referrals_rejected = referrals_rejected + (NEW.referral_status = 'rejected')
    WHERE id = NEW.referrer_id;
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
    SELECT id, NEW.created_ms, NEW.id, account_id, 1 FROM subscriber WHERE id = NEW.referrer_id AND is_star = 1
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO UPDATE SET n_brought = n_brought + 1;
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    SELECT NEW.account_id, NEW.campaign_id, NEW.id WHERE EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id);
END;

-- Email platforms show what is missing to the next reward.
CREATE TRIGGER subscriber_change_adjusted AFTER UPDATE OF adjustments ON subscriber
WHEN OLD.adjustments <> NEW.adjustments
    AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;

-- A new code of ours is none that somebody of the campaign has already. Whoever draws such a code draws again, as after any other
-- code that is taken.
CREATE TRIGGER subscriber_code_is_free BEFORE INSERT ON subscriber
WHEN EXISTS (SELECT 1 FROM subscriber_code WHERE campaign_id = NEW.campaign_id AND folded = NEW.ref_code)
BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: subscriber.ref_code'); END;

-- What another tool wrote about somebody goes when they are erased.
CREATE TRIGGER adoption_value_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    DELETE FROM adoption_value
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
END;
