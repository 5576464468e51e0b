-- works-with: 0020
-- A change of status changes no total, but the cohort of that day must be counted again.
CREATE TRIGGER subscriber_status_changes AFTER UPDATE OF status ON subscriber
WHEN OLD.status <> NEW.status AND NEW.erased_ms IS NULL BEGIN
    INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id)
    VALUES (NEW.campaign_id, NEW.created_ms, NEW.id, NEW.account_id)
    ON CONFLICT (owner_id, created_ms, subscriber_id) DO NOTHING;
END;
-- A new installation records it from the start.
INSERT INTO instance (name, value) SELECT 'unsubscribes_recorded_since_ms', CAST(unixepoch() * 1000 AS TEXT)
WHERE EXISTS (SELECT 1 FROM account);
