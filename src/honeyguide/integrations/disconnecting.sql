-- name: delete
-- Delete the integration itself.
DELETE FROM integration WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: insert
-- Remember that the rows of an integration are still to be deleted.
INSERT INTO disconnected_integration (id, account_id, campaign_id) VALUES (:id, :account_id, :campaign_id);

-- name: next
-- Disconnected integrations whose rows are still to be deleted.
SELECT id, account_id, campaign_id FROM disconnected_integration
WHERE CAST(:only AS TEXT) = '' OR id = :only
ORDER BY id
LIMIT :most;

-- name: delete_subscribers
-- Delete some of its subscribers.
DELETE
FROM integration_subscriber
WHERE account_id = :account_id AND integration_id = :id AND subscriber_id IN (
    SELECT subscriber_id FROM integration_subscriber
    WHERE account_id = :account_id AND integration_id = :id
    LIMIT :most
);

-- name: delete_values
-- Delete some of the values it found.
DELETE FROM adoption_value WHERE account_id = :account_id AND integration_id = :id AND subscriber_id IN (
    SELECT subscriber_id FROM adoption_value
    WHERE account_id = :account_id AND integration_id = :id
    LIMIT :most
);

-- name: delete_events
-- Delete some of its events.
DELETE FROM integration_event WHERE account_id = :account_id AND id IN (
    SELECT id FROM integration_event WHERE account_id = :account_id AND integration_id = :id LIMIT :most
);

-- name: finish
-- Nothing of the integration is left.
DELETE FROM disconnected_integration WHERE account_id = :account_id AND id = :id;
