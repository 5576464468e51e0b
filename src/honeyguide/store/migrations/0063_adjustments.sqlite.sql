-- works-with: 0020
-- Email platforms show what is missing to the next reward.
CREATE TRIGGER subscriber_change_adjusted AFTER UPDATE OF adjustments ON subscriber
WHEN OLD.adjustments <> NEW.adjustments
    AND EXISTS (SELECT 1 FROM integration WHERE campaign_id = NEW.campaign_id) BEGIN
    INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
    VALUES (NEW.account_id, NEW.campaign_id, NEW.id);
END;
