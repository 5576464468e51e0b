-- works-with: 0020
-- What was written to a platform about somebody, their address included, goes when they are erased. The platform's ID stays until
-- our fields are empty there.
CREATE TRIGGER integration_subscriber_is_erased AFTER UPDATE OF erased_ms ON subscriber
WHEN OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL BEGIN
    UPDATE integration_subscriber SET written = NULL, reason = NULL
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
END;
