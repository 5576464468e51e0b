-- works-with: 0093
-- locks: nothing in a new database
-- What a change does to the counts: of the lists of `owner_id` (a campaign, or a star) and of the campaign's days.
CREATE TABLE count_note (
    owner_id TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    subscriber_id TEXT COLLATE "C" NOT NULL,
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id TEXT COLLATE "C" NOT NULL,
    n_all BIGINT NOT NULL DEFAULT 0,
    n_referrals BIGINT NOT NULL DEFAULT 0,
    n_advocates BIGINT NOT NULL DEFAULT 0,
    n_brought BIGINT NOT NULL DEFAULT 0,
    verified BIGINT NOT NULL DEFAULT 0,
    pending BIGINT NOT NULL DEFAULT 0,
    rejected BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (seq)
);
-- Rows live for about a second: let the dead ones be swept often.
ALTER TABLE count_note SET (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);
-- A read adds up the notes of one owner, and passes every index entry of a deleted note that is not vacuumed yet. So this index has
-- the owner only: PostgreSQL stores the entries of one owner as a list of 6 bytes each, instead of 115.
CREATE INDEX count_note_owner ON count_note (owner_id);

-- The rate limit: a ring of the last N accepted times per key. Loss in a crash is harmless, so nothing here is logged.
-- A ring keeps the size it was written with: a lowered limit reads the larger ring, a raised one enlarges it once.
CREATE UNLOGGED TABLE rate_key (
    key_id TEXT COLLATE "C" PRIMARY KEY,
    accepted BIGINT NOT NULL,
    oldest BIGINT NOT NULL,
    last_ms BIGINT NOT NULL,
    ring BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE UNLOGGED TABLE rate_slot (
    key_id TEXT COLLATE "C" NOT NULL,
    slot BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (key_id, slot)
) WITH (fillfactor = 50);

-- The feed of changed subscribers, for campaigns that have an integration. A change adds a row and waits for nobody; whoever reads
-- the feed deletes what it read.
CREATE TABLE subscriber_change (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    campaign_id TEXT COLLATE "C" NOT NULL,
    subscriber_id TEXT COLLATE "C" NOT NULL
);
-- Rows live for seconds: let the dead ones be swept often.
ALTER TABLE subscriber_change SET (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX subscriber_change_campaign ON subscriber_change (campaign_id);

-- A charge can be reversed: a second row of `charge` with the negative fee, in the month of the charge. Charges and reversals are
-- numbered by program and month, by partner campaign and month, and by program and person: no number occurs twice, so no two rows
-- can begin with the same total. Of a person's rows the odd ones are charges: there is never a second one before a reversal.
CREATE TABLE charge (
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    partner_account_id TEXT COLLATE "C" NOT NULL,
    program_id TEXT COLLATE "C" NOT NULL REFERENCES program (id),
    partner_campaign_id TEXT COLLATE "C" NOT NULL REFERENCES partner_campaign (id),
    partner_referral_id TEXT COLLATE "C" NOT NULL REFERENCES partner_referral (id),
    person_key TEXT COLLATE "C" NOT NULL,
    month TEXT COLLATE "C" NOT NULL,
    fee_cents BIGINT NOT NULL,
    budget_spent_cents BIGINT NOT NULL,
    budget_cap_cents BIGINT NOT NULL,
    partner_spent_cents BIGINT NOT NULL,
    partner_cap_cents BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    person_step BIGINT NOT NULL,
    budget_step BIGINT NOT NULL,
    partner_step BIGINT NOT NULL,
    reverses_id TEXT COLLATE "C" REFERENCES charge (id),
    reversal_reason TEXT COLLATE "C",
    CHECK (account_id <> partner_account_id),
    CHECK (fee_cents <> 0),
    CHECK ((fee_cents < 0) = (reverses_id IS NOT NULL)),
    CHECK ((fee_cents < 0) = (reversal_reason IS NOT NULL)),
    CHECK ((fee_cents > 0) = (person_step % 2 = 1)),
    CHECK (budget_spent_cents >= GREATEST(fee_cents, 0) AND (fee_cents < 0 OR budget_spent_cents <= budget_cap_cents)),
    CHECK (partner_spent_cents >= GREATEST(fee_cents, 0) AND (fee_cents < 0 OR partner_spent_cents <= partner_cap_cents))
);
CREATE UNIQUE INDEX charge_once ON charge (program_id, person_key, person_step);
CREATE UNIQUE INDEX charge_budget_step ON charge (program_id, month, budget_step);
CREATE UNIQUE INDEX charge_partner_step ON charge (partner_campaign_id, month, partner_step);
CREATE UNIQUE INDEX charge_reversed ON charge (reverses_id) WHERE reverses_id IS NOT NULL;
CREATE INDEX charge_partner ON charge (partner_account_id, month, created_ms, id);
CREATE INDEX charge_owner ON charge (account_id, month, created_ms, id);

-- Room on every page for a referrer's row to be written again beside itself, which spares its indexes.
ALTER TABLE subscriber SET (fillfactor = 85);
-- Room on each page for the lease and the outcome beside the row: a lease then touches no index, and neither needs a new page.
ALTER TABLE delivery SET (fillfactor = 40);
-- An attempt is noted by the transaction that settles its delivery and locks its row: to look for that row once more for each
-- attempt cost a tenth of a delivery. Attempts still go with their delivery.
ALTER TABLE attempt DROP CONSTRAINT attempt_delivery_id_fkey;
-- A signup that is under way when a reward is created may not see it, and its count is not yet seen by the backfill that grants the
-- reward to those who already qualify. So the backfill begins when every transaction of that moment has ended: `walk_after` is the
-- transaction that began it.
ALTER TABLE reward ADD COLUMN walk_after BIGINT NOT NULL DEFAULT 0;

-- The referrer's counts, flags and rank. Returns 1 when they are a star, whose list is counted too. (In PL/pgSQL, whose plans are
-- kept: a function in SQL is planned anew in every call.)
CREATE FUNCTION credit_referrer(referrer TEXT, by_verified BIGINT, by_pending BIGINT, by_rejected BIGINT) RETURNS BIGINT
LANGUAGE plpgsql AS $$
DECLARE
    s RECORD;
BEGIN
    UPDATE subscriber SET
        referrals_verified = referrals_verified + by_verified,
        referrals_pending = referrals_pending + by_pending,
        referrals_rejected = referrals_rejected + by_rejected
    WHERE id = referrer
    RETURNING account_id, campaign_id, referrals_verified, is_advocate, is_star, erased_ms,
        CASE WHEN referrals_verified > 0 THEN 1 ELSE 0 END AS brings,
        CASE WHEN referrals_verified + referrals_pending + referrals_rejected >= 1000 THEN 1 ELSE is_star END AS shines
    INTO s;
    IF s.brings <> s.is_advocate OR s.shines <> s.is_star THEN
        UPDATE subscriber SET is_advocate = s.brings, is_star = s.shines WHERE id = referrer;
    END IF;
    IF by_verified <> 0 AND s.erased_ms IS NULL AND FOUND THEN
        INSERT INTO advocate (subscriber_id, account_id, campaign_id, verified)
        VALUES (referrer, s.account_id, s.campaign_id, s.referrals_verified)
        ON CONFLICT (subscriber_id) DO UPDATE SET verified = excluded.verified;
    END IF;
    RETURN s.shines;
END $$;

CREATE FUNCTION subscriber_enters() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    referred BIGINT := CASE WHEN NEW.referrer_code IS NULL THEN 0 ELSE 1 END;
    is_verified BIGINT := CASE NEW.referral_status WHEN 'verified' THEN 1 ELSE 0 END;
    is_pending BIGINT := CASE NEW.referral_status WHEN 'pending' THEN 1 ELSE 0 END;
    is_rejected BIGINT := CASE NEW.referral_status WHEN 'rejected' THEN 1 ELSE 0 END;
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_all, n_referrals, verified, pending, rejected)
    VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, 1, referred,
        referred * is_verified, referred * is_pending, referred * is_rejected
    );
    IF NEW.referrer_id IS NOT NULL AND credit_referrer(NEW.referrer_id, is_verified, is_pending, is_rejected) = 1 THEN
        INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
        VALUES (NEW.referrer_id, NEW.created_ms, NEW.id, NEW.account_id, 1);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION subscriber_is_judged() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    by_verified BIGINT := CASE 'verified' WHEN NEW.referral_status THEN 1 WHEN OLD.referral_status THEN -1 ELSE 0 END;
    by_pending BIGINT := CASE 'pending' WHEN NEW.referral_status THEN 1 WHEN OLD.referral_status THEN -1 ELSE 0 END;
    by_rejected BIGINT := CASE 'rejected' WHEN NEW.referral_status THEN 1 WHEN OLD.referral_status THEN -1 ELSE 0 END;
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, verified, pending, rejected)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, by_verified, by_pending, by_rejected);
    IF NEW.referrer_id IS NOT NULL THEN
        PERFORM credit_referrer(NEW.referrer_id, by_verified, by_pending, by_rejected);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION subscriber_turns_advocate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_advocates)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, NEW.is_advocate - OLD.is_advocate);
    RETURN NULL;
END $$;

CREATE FUNCTION subscriber_is_erased() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    referred BIGINT := CASE WHEN OLD.referrer_code IS NULL THEN 0 ELSE 1 END;
    was_verified BIGINT := CASE OLD.referral_status WHEN 'verified' THEN 1 ELSE 0 END;
    was_pending BIGINT := CASE OLD.referral_status WHEN 'pending' THEN 1 ELSE 0 END;
    was_rejected BIGINT := CASE OLD.referral_status WHEN 'rejected' THEN 1 ELSE 0 END;
BEGIN
    INSERT INTO count_note (
        owner_id, created_ms, subscriber_id, account_id, n_all, n_referrals, n_advocates, verified, pending, rejected
    ) VALUES (
        NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, -1, -referred, -OLD.is_advocate,
        -referred * was_verified, -referred * was_pending, -referred * was_rejected
    );
    DELETE FROM advocate WHERE subscriber_id = OLD.id;
    IF NEW.referrer_id IS NOT NULL AND credit_referrer(NEW.referrer_id, -was_verified, -was_pending, -was_rejected) = 1 THEN
        INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
        VALUES (NEW.referrer_id, NEW.created_ms, NEW.id, NEW.account_id, -1);
    END IF;
    RETURN NULL;
END $$;

-- For processes of the version before, which know nothing of scopes and expiry: they refuse every key that has either.
CREATE OR REPLACE FUNCTION admit(key_digest TEXT, asked_ms BIGINT, most BIGINT, window_ms BIGINT)
RETURNS TABLE (key_id TEXT, account_id TEXT, campaign_id TEXT, refused BIGINT, left_over BIGINT, frees_ms BIGINT)
LANGUAGE plpgsql ROWS 1 COST 1 AS $$
BEGIN
    RETURN QUERY SELECT a.key_id, a.account_id, a.campaign_id, a.refused, a.left_over, a.frees_ms
    FROM admit_key(key_digest, asked_ms, most, window_ms) AS a WHERE a.scopes IS NULL AND a.expires_ms IS NULL;
END $$;

-- Every campaign holds its address from the moment it is made.
CREATE FUNCTION campaign_takes_slug() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO slug (slug, account_id, kind, target_id) VALUES (NEW.slug, NEW.account_id, 'campaign', NEW.id);
    RETURN NULL;
END $$;

CREATE FUNCTION ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END $$;

CREATE FUNCTION month_is_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM period WHERE month = NEW.month AND closed_ms IS NOT NULL) THEN
        RAISE EXCEPTION 'the month is closed';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION month_stays_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the month is closed';
END $$;

CREATE FUNCTION attempts_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM attempt USING gone WHERE attempt.delivery_id = gone.id;
    RETURN NULL;
END $$;

CREATE FUNCTION reward_walk_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.walk_after := pg_current_xact_id()::text::bigint;
    RETURN NEW;
END $$;

CREATE FUNCTION subscriber_change_of_subscriber() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) THEN
        INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION subscriber_change_of_reward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) THEN
        INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
        VALUES (NEW.account_id, NEW.campaign_id, NEW.subscriber_id);
    END IF;
    RETURN NULL;
END $$;

-- What was written to a platform about somebody, their address included, goes when they are erased. The platform's ID stays until
-- our fields are empty there.
CREATE FUNCTION integration_subscriber_is_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE integration_subscriber SET written = NULL, reason = NULL
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
    RETURN NULL;
END $$;

-- A change of status changes no total, but the cohort of that day must be counted again.
CREATE FUNCTION subscriber_status_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id);
    RETURN NULL;
END $$;

-- In the statement that makes them confirmed, whichever it is, and also one of an older version that runs beside this one.
CREATE FUNCTION subscriber_confirms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.must_confirm := 0;
    RETURN NEW;
END $$;

-- Who came with an unknown code can get a referrer later. This counts the referral like one that was there from the start.
-- The statement sets the referral's status first, while there is no referrer, so that `subscriber_is_judged` counts nothing.
CREATE FUNCTION subscriber_is_referred() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_verified BIGINT := CASE NEW.referral_status WHEN 'verified' THEN 1 ELSE 0 END;
    is_pending BIGINT := CASE NEW.referral_status WHEN 'pending' THEN 1 ELSE 0 END;
    is_rejected BIGINT := CASE NEW.referral_status WHEN 'rejected' THEN 1 ELSE 0 END;
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_referrals, verified, pending, rejected)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, 1, is_verified, is_pending, is_rejected);
    IF NEW.referrer_id IS NOT NULL AND credit_referrer(NEW.referrer_id, is_verified, is_pending, is_rejected) = 1 THEN
        INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_brought)
        VALUES (NEW.referrer_id, NEW.created_ms, NEW.id, NEW.account_id, 1);
    END IF;
    RETURN NULL;
END $$;

-- As in the file for SQLite.
CREATE FUNCTION code_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM subscriber_code WHERE campaign_id = NEW.campaign_id AND folded = NEW.ref_code) THEN
        RAISE EXCEPTION 'the code is taken' USING ERRCODE = 'unique_violation', CONSTRAINT = 'subscriber_ref_code';
    END IF;
    RETURN NEW;
END $$;

-- What another tool wrote about somebody goes when they are erased.
CREATE FUNCTION adoption_value_is_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM adoption_value
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
    RETURN NULL;
END $$;

-- The function `admit` of migration 0013 under a new name, because it also returns the key's scopes and expiry.
CREATE FUNCTION admit_key(key_digest TEXT, asked_ms BIGINT, most BIGINT, window_ms BIGINT)
RETURNS TABLE (
    key_id TEXT, account_id TEXT, campaign_id TEXT, scopes TEXT, expires_ms BIGINT,
    refused BIGINT, left_over BIGINT, frees_ms BIGINT
)
-- Told that it gives one row at no cost, the planner keeps one plan for any number of callers.
LANGUAGE plpgsql ROWS 1 COST 1 AS $$
#variable_conflict use_column
DECLARE
    used_ms BIGINT; n BIGINT; o BIGINT; latest_ms BIGINT; size BIGINT; now_ms BIGINT; at BIGINT; kept BIGINT[];
BEGIN
    SELECT k.id, k.account_id, c.id, k.last_used_ms, k.scopes, k.expires_ms
    INTO key_id, account_id, campaign_id, used_ms, scopes, expires_ms
    FROM api_key k JOIN campaign c ON c.account_id = k.account_id WHERE k.digest = key_digest AND k.revoked_ms IS NULL;
    IF NOT FOUND THEN RETURN; END IF;
    refused := 0; left_over := most; frees_ms := asked_ms + window_ms;
    -- The caller refuses an expired key: it counts for nothing.
    IF expires_ms <= asked_ms THEN RETURN NEXT; RETURN; END IF;
    IF used_ms IS NULL OR used_ms < asked_ms - 60000 THEN
        UPDATE api_key SET last_used_ms = asked_ms WHERE id = key_id;
    END IF;
    IF most = 0 THEN RETURN NEXT; RETURN; END IF;

    SELECT accepted, oldest, last_ms, ring INTO n, o, latest_ms, size FROM rate_key r WHERE r.key_id = admit_key.key_id FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO rate_key VALUES (key_id, 0, 0, asked_ms, most) ON CONFLICT DO NOTHING;
        SELECT accepted, oldest, last_ms, ring INTO n, o, latest_ms, size FROM rate_key r WHERE r.key_id = admit_key.key_id FOR UPDATE;
    END IF;
    -- Requests that waited for the lock carry an older time; a clock set back by more than a window is believed.
    now_ms := CASE WHEN asked_ms < latest_ms - window_ms THEN asked_ms ELSE greatest(latest_ms, asked_ms) END;
    -- Entries older than the window leave the ring's tail: all at once after a quiet minute, else each is passed once, so this is
    -- short however long the ring is.
    o := CASE WHEN latest_ms <= now_ms - window_ms THEN n ELSE greatest(o, n - size) END;
    IF size < most THEN
        SELECT array_agg(s.at_ms ORDER BY i) INTO kept
        FROM generate_series(o, n - 1) AS i JOIN rate_slot s ON s.key_id = admit_key.key_id AND s.slot = i % size;
        DELETE FROM rate_slot s WHERE s.key_id = admit_key.key_id;
        o := n - COALESCE(cardinality(kept), 0);
        INSERT INTO rate_slot SELECT admit_key.key_id, (o + place - 1) % most, at_ms FROM unnest(kept) WITH ORDINALITY AS k (at_ms, place);
        size := most;
    END IF;
    LOOP
        EXIT WHEN o >= n;
        SELECT at_ms INTO at FROM rate_slot s WHERE s.key_id = admit_key.key_id AND s.slot = o % size;
        EXIT WHEN FOUND AND at > now_ms - window_ms AND at <= now_ms;
        o := o + 1;
    END LOOP;
    IF n - o >= most THEN
        -- One place is free when all but most - 1 have left; more than `most` are there only after the limit was lowered.
        SELECT at_ms INTO at FROM rate_slot s WHERE s.key_id = admit_key.key_id AND s.slot = (n - most) % size;
        refused := 1; left_over := 0; frees_ms := at + window_ms;
        UPDATE rate_key r SET oldest = o, last_ms = now_ms, ring = size WHERE r.key_id = admit_key.key_id;
        RETURN NEXT; RETURN;
    END IF;
    INSERT INTO rate_slot AS s VALUES (key_id, n % size, now_ms)
    ON CONFLICT (key_id, slot) DO UPDATE SET at_ms = excluded.at_ms;
    UPDATE rate_key r SET accepted = n + 1, oldest = o, last_ms = now_ms, ring = size WHERE r.key_id = admit_key.key_id;
    left_over := most - (n - o) - 1;
    frees_ms := CASE WHEN o < n THEN at ELSE now_ms END + window_ms;
    RETURN NEXT;
END $$;

CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber FOR EACH ROW EXECUTE FUNCTION subscriber_enters();

CREATE TRIGGER subscriber_is_judged AFTER UPDATE OF referral_status ON subscriber FOR EACH ROW
WHEN (OLD.referral_status <> NEW.referral_status AND NEW.referrer_code IS NOT NULL AND OLD.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_is_judged();

CREATE TRIGGER subscriber_turns_advocate AFTER UPDATE OF is_advocate ON subscriber FOR EACH ROW
WHEN (OLD.is_advocate <> NEW.is_advocate AND OLD.erased_ms IS NULL AND NEW.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_turns_advocate();

CREATE TRIGGER subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber FOR EACH ROW
WHEN (OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL) EXECUTE FUNCTION subscriber_is_erased();

CREATE TRIGGER campaign_takes_slug AFTER INSERT ON campaign FOR EACH ROW EXECUTE FUNCTION campaign_takes_slug();

CREATE TRIGGER transfer_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer
FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

CREATE TRIGGER charge_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON charge
FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

CREATE TRIGGER transfer_month_is_open BEFORE INSERT ON transfer FOR EACH ROW EXECUTE FUNCTION month_is_open();

CREATE TRIGGER period_stays_closed BEFORE UPDATE OF month, closed_ms ON period
FOR EACH ROW WHEN (OLD.closed_ms IS NOT NULL) EXECUTE FUNCTION month_stays_closed();

CREATE TRIGGER period_is_kept BEFORE DELETE ON period
FOR EACH ROW WHEN (OLD.closed_ms IS NOT NULL) EXECUTE FUNCTION month_stays_closed();

CREATE TRIGGER attempts_go AFTER DELETE ON delivery REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION attempts_go();

-- Only when the walk begins at the top of the list, not when it moves on.
CREATE TRIGGER reward_walk_begins BEFORE INSERT OR UPDATE OF walk_ms ON reward
FOR EACH ROW WHEN (NEW.walk_ms = 4611686018427387904) EXECUTE FUNCTION reward_walk_begins();

CREATE TRIGGER subscriber_change_joins AFTER INSERT ON subscriber FOR EACH ROW EXECUTE FUNCTION subscriber_change_of_subscriber();

CREATE TRIGGER subscriber_change_changes AFTER UPDATE OF email, name, status, referrals_verified, referral_status, erased_ms
ON subscriber FOR EACH ROW
WHEN (
    OLD.email IS DISTINCT FROM NEW.email OR OLD.name IS DISTINCT FROM NEW.name OR OLD.status <> NEW.status
    OR OLD.referrals_verified <> NEW.referrals_verified OR OLD.referral_status <> NEW.referral_status
    OR OLD.erased_ms IS DISTINCT FROM NEW.erased_ms
) EXECUTE FUNCTION subscriber_change_of_subscriber();

CREATE TRIGGER subscriber_change_earns AFTER INSERT OR UPDATE OF status, coupon_code ON won_reward FOR EACH ROW
EXECUTE FUNCTION subscriber_change_of_reward();

CREATE TRIGGER integration_subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber FOR EACH ROW
WHEN (OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL) EXECUTE FUNCTION integration_subscriber_is_erased();

CREATE TRIGGER subscriber_status_changes AFTER UPDATE OF status ON subscriber FOR EACH ROW
WHEN (OLD.status <> NEW.status AND NEW.erased_ms IS NULL) EXECUTE FUNCTION subscriber_status_changes();

CREATE TRIGGER subscriber_confirms BEFORE UPDATE OF status ON subscriber FOR EACH ROW
WHEN (NEW.status = 'confirmed' AND NEW.must_confirm = 1) EXECUTE FUNCTION subscriber_confirms();

CREATE TRIGGER subscriber_is_referred AFTER UPDATE OF referrer_code ON subscriber FOR EACH ROW
WHEN (OLD.referrer_code IS NULL AND NEW.referrer_code IS NOT NULL AND NEW.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_is_referred();

CREATE TRIGGER subscriber_change_referred AFTER UPDATE OF referrer_code ON subscriber FOR EACH ROW
WHEN (OLD.referrer_code IS NULL AND NEW.referrer_code IS NOT NULL) EXECUTE FUNCTION subscriber_change_of_subscriber();

-- Email platforms show what is missing to the next reward.
CREATE TRIGGER subscriber_change_adjusted AFTER UPDATE OF adjustments ON subscriber FOR EACH ROW
WHEN (OLD.adjustments <> NEW.adjustments) EXECUTE FUNCTION subscriber_change_of_subscriber();

CREATE TRIGGER subscriber_code_is_free BEFORE INSERT ON subscriber FOR EACH ROW EXECUTE FUNCTION code_is_free();

CREATE TRIGGER adoption_value_is_erased AFTER UPDATE OF erased_ms ON subscriber FOR EACH ROW
WHEN (OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL) EXECUTE FUNCTION adoption_value_is_erased();
