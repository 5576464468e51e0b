-- A row per campaign and day would make every signup of the day queue for it: writers note, a job sums up, readers add the notes.
CREATE TABLE campaign_day_delta (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign_id TEXT COLLATE "C" NOT NULL,
    day_ms BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    signups BIGINT NOT NULL,
    verified BIGINT NOT NULL,
    pending BIGINT NOT NULL,
    rejected BIGINT NOT NULL
);
CREATE INDEX campaign_day_delta_campaign ON campaign_day_delta (campaign_id, day_ms);
ALTER TABLE campaign_day_delta SET (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION note_day(row_of subscriber, judged TEXT, by BIGINT, people BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO campaign_day_delta (campaign_id, day_ms, account_id, signups, verified, pending, rejected)
    SELECT row_of.campaign_id, row_of.created_ms - row_of.created_ms % 86400000, row_of.account_id, people,
           CASE WHEN referred AND judged = 'verified' THEN by ELSE 0 END,
           CASE WHEN referred AND judged = 'pending' THEN by ELSE 0 END,
           CASE WHEN referred AND judged = 'rejected' THEN by ELSE 0 END
    FROM (SELECT row_of.referrer_code IS NOT NULL AS referred) AS r
$$;

CREATE FUNCTION subscriber_day_enters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_day(NEW, NEW.referral_status, 1, 1);
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_day_enters AFTER INSERT ON subscriber
FOR EACH ROW WHEN (NEW.erased_ms IS NULL) EXECUTE FUNCTION subscriber_day_enters();

CREATE FUNCTION subscriber_day_is_judged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_day(NEW, OLD.referral_status, -1, 0);
    PERFORM note_day(NEW, NEW.referral_status, 1, 0);
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_day_is_judged AFTER UPDATE OF referral_status ON subscriber FOR EACH ROW
WHEN (OLD.referral_status <> NEW.referral_status AND NEW.referrer_code IS NOT NULL AND OLD.erased_ms IS NULL)
EXECUTE FUNCTION subscriber_day_is_judged();

CREATE FUNCTION subscriber_day_is_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_day(OLD, OLD.referral_status, -1, -1);
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_day_is_erased AFTER UPDATE OF erased_ms ON subscriber FOR EACH ROW
WHEN (OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL) EXECUTE FUNCTION subscriber_day_is_erased();
