-- works-with: 0060
-- locks: subscriber, for writes, for a moment
-- What another tool wrote about somebody goes when they are erased.
CREATE FUNCTION adoption_value_is_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM adoption_value
    WHERE subscriber_id = NEW.id AND integration_id IN (SELECT id FROM integration WHERE campaign_id = NEW.campaign_id);
    RETURN NULL;
END $$;
CREATE TRIGGER adoption_value_is_erased AFTER UPDATE OF erased_ms ON subscriber FOR EACH ROW
WHEN (OLD.erased_ms IS NULL AND NEW.erased_ms IS NOT NULL) EXECUTE FUNCTION adoption_value_is_erased();
