-- works-with: 0088
-- locks: nothing
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

-- For processes of the version before, which know nothing of scopes and expiry: they refuse every key that has either.
CREATE OR REPLACE FUNCTION admit(key_digest TEXT, asked_ms BIGINT, most BIGINT, window_ms BIGINT)
RETURNS TABLE (key_id TEXT, account_id TEXT, campaign_id TEXT, refused BIGINT, left_over BIGINT, frees_ms BIGINT)
LANGUAGE plpgsql ROWS 1 COST 1 AS $$
BEGIN
    RETURN QUERY SELECT a.key_id, a.account_id, a.campaign_id, a.refused, a.left_over, a.frees_ms
    FROM admit_key(key_digest, asked_ms, most, window_ms) AS a WHERE a.scopes IS NULL AND a.expires_ms IS NULL;
END $$;
