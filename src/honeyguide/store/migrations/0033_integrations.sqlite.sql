-- works-with: 0020
-- The feed of changed subscribers, for campaigns that have an integration. A change adds a row and waits for nobody; whoever reads
-- the feed deletes what it read.
CREATE TABLE subscriber_change (
    seq INTEGER PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL
) STRICT;
CREATE INDEX subscriber_change_campaign ON subscriber_change (campaign_id, seq);

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
