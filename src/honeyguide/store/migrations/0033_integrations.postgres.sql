-- works-with: 0020
-- locks: subscriber and won_reward, for writes, for a moment
-- The feed of changed subscribers, for campaigns that have an integration. A change adds a row and waits for nobody; whoever reads
-- the feed deletes what it read.
CREATE TABLE subscriber_change (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    campaign_id TEXT COLLATE "C" NOT NULL,
    subscriber_id TEXT COLLATE "C" NOT NULL
);
CREATE INDEX subscriber_change_campaign ON subscriber_change (campaign_id);
-- Rows live for seconds: let the dead ones be swept often.
ALTER TABLE subscriber_change SET (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION subscriber_change_of_subscriber() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) THEN
        INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_change_joins AFTER INSERT ON subscriber FOR EACH ROW EXECUTE FUNCTION subscriber_change_of_subscriber();
CREATE TRIGGER subscriber_change_changes AFTER UPDATE OF email, name, status, referrals_verified, referral_status, erased_ms
ON subscriber FOR EACH ROW
WHEN (
    OLD.email IS DISTINCT FROM NEW.email OR OLD.name IS DISTINCT FROM NEW.name OR OLD.status <> NEW.status
    OR OLD.referrals_verified <> NEW.referrals_verified OR OLD.referral_status <> NEW.referral_status
    OR OLD.erased_ms IS DISTINCT FROM NEW.erased_ms
) EXECUTE FUNCTION subscriber_change_of_subscriber();

CREATE FUNCTION subscriber_change_of_reward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) THEN
        INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
        VALUES (NEW.account_id, NEW.campaign_id, NEW.subscriber_id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_change_earns AFTER INSERT OR UPDATE OF status, coupon_code ON won_reward FOR EACH ROW
EXECUTE FUNCTION subscriber_change_of_reward();
