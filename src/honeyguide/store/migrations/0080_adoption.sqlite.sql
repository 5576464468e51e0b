-- works-with: 0060
-- What another tool wrote about somebody goes when they are erased.
CREATE TRIGGER adoption_value_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    DELETE FROM adoption_value
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
END;
