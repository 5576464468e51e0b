CREATE TABLE listing_delta (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    list TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    subscriber_id TEXT COLLATE "C" NOT NULL,
    n BIGINT NOT NULL
);
CREATE INDEX listing_delta_list ON listing_delta (list, created_ms, subscriber_id, n);
-- Rows live for about a second: let the dead ones be swept often.
ALTER TABLE listing_delta SET (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION note(account_id TEXT, list TEXT, row_created_ms BIGINT, row_id TEXT, n BIGINT) RETURNS void
LANGUAGE sql AS 'INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n) VALUES ($1, $2, $3, $4, $5)';

CREATE FUNCTION credit_referrer(referrer TEXT, judged TEXT, by BIGINT) RETURNS BIGINT LANGUAGE sql AS $$
    UPDATE subscriber SET
        referrals_verified = referrals_verified + CASE judged WHEN 'verified' THEN by ELSE 0 END,
        referrals_pending = referrals_pending + CASE judged WHEN 'pending' THEN by ELSE 0 END,
        referrals_rejected = referrals_rejected + CASE judged WHEN 'rejected' THEN by ELSE 0 END,
        is_advocate = CASE WHEN referrals_verified + CASE judged WHEN 'verified' THEN by ELSE 0 END > 0 THEN 1 ELSE 0 END,
        is_star = CASE WHEN referrals_verified + referrals_pending + referrals_rejected >= 1000 THEN 1 ELSE is_star END
    WHERE id = referrer
    RETURNING is_star
$$;

CREATE FUNCTION subscriber_enters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
    VALUES (NEW.account_id, NEW.campaign_id || '/all', NEW.created_ms, NEW.id, 1);
    IF NEW.referrer_code IS NOT NULL THEN
        INSERT INTO listing_delta (account_id, list, created_ms, subscriber_id, n)
        VALUES (NEW.account_id, NEW.campaign_id || '/referrals', NEW.created_ms, NEW.id, 1);
        IF NEW.referrer_id IS NOT NULL AND credit_referrer(NEW.referrer_id, NEW.referral_status, 1) = 1 THEN
            PERFORM note(NEW.account_id, NEW.referrer_id || '/brought', NEW.created_ms, NEW.id, 1);
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_enters AFTER INSERT ON subscriber
FOR EACH ROW WHEN (NEW.erased_ms IS NULL) EXECUTE FUNCTION subscriber_enters();

CREATE FUNCTION subscriber_is_judged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM credit_referrer(NEW.referrer_id, OLD.referral_status, -1);
    PERFORM credit_referrer(NEW.referrer_id, NEW.referral_status, 1);
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_is_judged AFTER UPDATE OF referral_status ON subscriber FOR EACH ROW
WHEN (OLD.referral_status <> NEW.referral_status AND NEW.referrer_id IS NOT NULL AND OLD.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_is_judged();

CREATE FUNCTION subscriber_turns_advocate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(NEW.account_id, NEW.campaign_id || '/advocates', NEW.created_ms, NEW.id, NEW.is_advocate - OLD.is_advocate);
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_turns_advocate AFTER UPDATE OF is_advocate ON subscriber FOR EACH ROW
WHEN (OLD.is_advocate <> NEW.is_advocate AND OLD.erased_ms IS NULL AND NEW.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_turns_advocate();

CREATE FUNCTION subscriber_is_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(NEW.account_id, NEW.campaign_id || '/all', NEW.created_ms, NEW.id, -1);
    IF OLD.referrer_code IS NOT NULL THEN
        PERFORM note(NEW.account_id, NEW.campaign_id || '/referrals', NEW.created_ms, NEW.id, -1);
    END IF;
    IF OLD.is_advocate = 1 THEN
        PERFORM note(NEW.account_id, NEW.campaign_id || '/advocates', NEW.created_ms, NEW.id, -1);
    END IF;
    IF NEW.referrer_id IS NOT NULL AND credit_referrer(NEW.referrer_id, OLD.referral_status, -1) = 1 THEN
        PERFORM note(NEW.account_id, NEW.referrer_id || '/brought', NEW.created_ms, NEW.id, -1);
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

-- One round trip: who calls, and may they? `refused` is 1 when the ring is full; `left_over` is what remains in the window and
-- `frees_ms` when its oldest entry leaves it. Each statement of this function sees what the lock's last holder wrote.
CREATE FUNCTION admit(key_digest TEXT, asked_ms BIGINT, most BIGINT, window_ms BIGINT)
RETURNS TABLE (key_id TEXT, account_id TEXT, campaign_id TEXT, refused BIGINT, left_over BIGINT, frees_ms BIGINT)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    used_ms BIGINT; n BIGINT; o BIGINT; now_ms BIGINT; at BIGINT;
BEGIN
    SELECT k.id, k.account_id, c.id, k.last_used_ms INTO key_id, account_id, campaign_id, used_ms
    FROM api_key k JOIN campaign c ON c.account_id = k.account_id WHERE k.digest = key_digest AND k.revoked_ms IS NULL;
    IF NOT FOUND THEN RETURN; END IF;
    IF used_ms IS NULL OR used_ms < asked_ms - 60000 THEN
        UPDATE api_key SET last_used_ms = asked_ms WHERE id = key_id;
    END IF;
    refused := 0; left_over := most; frees_ms := asked_ms + window_ms;
    IF most = 0 THEN RETURN NEXT; RETURN; END IF;

    INSERT INTO rate_key AS r VALUES (key_id, 0, 0, asked_ms)
    ON CONFLICT (key_id) DO UPDATE
    -- Requests that waited for the lock carry an older time; a clock set back by more than a window is believed.
    SET last_ms = CASE WHEN asked_ms < r.last_ms - window_ms THEN asked_ms ELSE greatest(r.last_ms, asked_ms) END
    RETURNING accepted, oldest, last_ms INTO n, o, now_ms;
    -- Entries older than the window fall off the ring's tail; each is passed once, so this is short however long the ring is.
    o := greatest(o, n - most);
    LOOP
        EXIT WHEN o >= n;
        SELECT at_ms INTO at FROM rate_slot s WHERE s.key_id = admit.key_id AND s.slot = o % most;
        EXIT WHEN FOUND AND at > now_ms - window_ms AND at <= now_ms;
        o := o + 1;
    END LOOP;
    IF n - o >= most THEN
        refused := 1; left_over := 0; frees_ms := at + window_ms;
        UPDATE rate_key r SET oldest = o WHERE r.key_id = admit.key_id;
        RETURN NEXT; RETURN;
    END IF;
    INSERT INTO rate_slot AS s VALUES (key_id, n % most, now_ms)
    ON CONFLICT (key_id, slot) DO UPDATE SET at_ms = excluded.at_ms;
    UPDATE rate_key r SET accepted = n + 1, oldest = o WHERE r.key_id = admit.key_id;
    left_over := most - (n - o) - 1;
    frees_ms := CASE WHEN o < n THEN at ELSE now_ms END + window_ms;
    RETURN NEXT;
END $$;
