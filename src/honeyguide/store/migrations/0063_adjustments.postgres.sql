-- works-with: 0020
-- locks: subscriber, for writes, for a moment
-- Email platforms show what is missing to the next reward.
CREATE TRIGGER subscriber_change_adjusted AFTER UPDATE OF adjustments ON subscriber FOR EACH ROW
WHEN (OLD.adjustments <> NEW.adjustments) EXECUTE FUNCTION subscriber_change_of_subscriber();
