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
    PRIMARY KEY (owner_id, created_ms, subscriber_id, seq)
);
-- Rows live for about a second: let the dead ones be swept often.
ALTER TABLE count_note SET (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);
-- Room on every page for a referrer's row to be written again beside itself, which spares its indexes.
ALTER TABLE subscriber SET (fillfactor = 85);
-- What is checked here is checked before it comes here; PostgreSQL reads the text of every check anew for every statement, which
-- took a tenth of a signup.
ALTER TABLE subscriber DROP CONSTRAINT subscriber_status_check, DROP CONSTRAINT subscriber_referral_status_check,
    DROP CONSTRAINT subscriber_check;

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
CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber FOR EACH ROW EXECUTE FUNCTION subscriber_enters();

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
CREATE TRIGGER subscriber_is_judged AFTER UPDATE OF referral_status ON subscriber FOR EACH ROW
WHEN (OLD.referral_status <> NEW.referral_status AND NEW.referrer_code IS NOT NULL AND OLD.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_is_judged();

CREATE FUNCTION subscriber_turns_advocate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_advocates)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id, NEW.is_advocate - OLD.is_advocate);
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_turns_advocate AFTER UPDATE OF is_advocate ON subscriber FOR EACH ROW
WHEN (OLD.is_advocate <> NEW.is_advocate AND OLD.erased_ms IS NULL AND NEW.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_turns_advocate();

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
CREATE TRIGGER subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber FOR EACH ROW
WHEN (OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL) EXECUTE FUNCTION subscriber_is_erased();

-- The rate limit: a ring of the last N accepted times per key. Loss in a crash is harmless, so nothing here is logged.
CREATE UNLOGGED TABLE rate_key (
    key_id TEXT COLLATE "C" PRIMARY KEY,
    accepted BIGINT NOT NULL,
    oldest BIGINT NOT NULL,
    last_ms BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE UNLOGGED TABLE rate_slot (
    key_id TEXT COLLATE "C" NOT NULL,
    slot BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (key_id, slot)
) WITH (fillfactor = 50);

-- Who calls, and may they? `refused` is 1 when the ring is full; `left_over` is what remains in the window and `frees_ms` when its
-- oldest entry leaves it. Each statement of this function sees what the lock's last holder wrote.
CREATE FUNCTION admit(key_digest TEXT, asked_ms BIGINT, most BIGINT, window_ms BIGINT)
RETURNS TABLE (key_id TEXT, account_id TEXT, campaign_id TEXT, refused BIGINT, left_over BIGINT, frees_ms BIGINT)
-- Told that it gives one row at no cost, the planner keeps one plan for any number of callers.
LANGUAGE plpgsql ROWS 1 COST 1 AS $$
#variable_conflict use_column
DECLARE
    used_ms BIGINT; n BIGINT; o BIGINT; latest_ms BIGINT; now_ms BIGINT; at BIGINT;
BEGIN
    SELECT k.id, k.account_id, c.id, k.last_used_ms INTO key_id, account_id, campaign_id, used_ms
    FROM api_key k JOIN campaign c ON c.account_id = k.account_id WHERE k.digest = key_digest AND k.revoked_ms IS NULL;
    IF NOT FOUND THEN RETURN; END IF;
    IF used_ms IS NULL OR used_ms < asked_ms - 60000 THEN
        UPDATE api_key SET last_used_ms = asked_ms WHERE id = key_id;
    END IF;
    refused := 0; left_over := most; frees_ms := asked_ms + window_ms;
    IF most = 0 THEN RETURN NEXT; RETURN; END IF;

    SELECT accepted, oldest, last_ms INTO n, o, latest_ms FROM rate_key r WHERE r.key_id = admit.key_id FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO rate_key VALUES (key_id, 0, 0, asked_ms) ON CONFLICT DO NOTHING;
        SELECT accepted, oldest, last_ms INTO n, o, latest_ms FROM rate_key r WHERE r.key_id = admit.key_id FOR UPDATE;
    END IF;
    -- Requests that waited for the lock carry an older time; a clock set back by more than a window is believed.
    now_ms := CASE WHEN asked_ms < latest_ms - window_ms THEN asked_ms ELSE greatest(latest_ms, asked_ms) END;
    -- Entries older than the window fall off the ring's tail: all at once after a quiet minute, else each is passed once, so this
    -- is short however long the ring is.
    o := CASE WHEN latest_ms <= now_ms - window_ms THEN n ELSE greatest(o, n - most) END;
    LOOP
        EXIT WHEN o >= n;
        SELECT at_ms INTO at FROM rate_slot s WHERE s.key_id = admit.key_id AND s.slot = o % most;
        EXIT WHEN FOUND AND at > now_ms - window_ms AND at <= now_ms;
        o := o + 1;
    END LOOP;
    IF n - o >= most THEN
        refused := 1; left_over := 0; frees_ms := at + window_ms;
        UPDATE rate_key r SET oldest = o, last_ms = now_ms WHERE r.key_id = admit.key_id;
        RETURN NEXT; RETURN;
    END IF;
    INSERT INTO rate_slot AS s VALUES (key_id, n % most, now_ms)
    ON CONFLICT (key_id, slot) DO UPDATE SET at_ms = excluded.at_ms;
    UPDATE rate_key r SET accepted = n + 1, oldest = o, last_ms = now_ms WHERE r.key_id = admit.key_id;
    left_over := most - (n - o) - 1;
    frees_ms := CASE WHEN o < n THEN at ELSE now_ms END + window_ms;
    RETURN NEXT;
END $$;
