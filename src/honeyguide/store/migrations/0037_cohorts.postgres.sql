-- works-with: 0020
-- locks: subscriber, for writes, for a moment
-- A change of status changes no total, but the cohort of that day must be counted again.
CREATE FUNCTION subscriber_status_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id);
    RETURN NULL;
END $$;
CREATE TRIGGER subscriber_status_changes AFTER UPDATE OF status ON subscriber FOR EACH ROW
WHEN (OLD.status <> NEW.status AND NEW.erased_ms IS NULL) EXECUTE FUNCTION subscriber_status_changes();
-- A new installation records it from the start.
INSERT INTO instance (name, value)
SELECT 'unsubscribes_recorded_since_ms', CAST(CAST(EXTRACT(EPOCH FROM now()) AS BIGINT) * 1000 AS TEXT)
WHERE EXISTS (SELECT 1 FROM account);
