-- name: delete
DELETE FROM integration WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: insert
INSERT INTO disconnected_integration (id, account_id, campaign_id) VALUES (:id, :account_id, :campaign_id);

-- name: next
SELECT id, account_id, campaign_id FROM disconnected_integration
WHERE CAST(:only AS TEXT) = '' OR id = :only ORDER BY id LIMIT :most;

-- name: delete_subscribers
DELETE
FROM integration_subscriber
WHERE account_id = :account_id AND integration_id = :id AND subscriber_id IN (
    SELECT subscriber_id FROM integration_subscriber
    WHERE account_id = :account_id AND integration_id = :id
    LIMIT :most
);

-- name: delete_values
DELETE FROM adoption_value WHERE account_id = :account_id AND integration_id = :id AND subscriber_id IN (
    SELECT subscriber_id FROM adoption_value
    WHERE account_id = :account_id AND integration_id = :id
    LIMIT :most
);

-- name: delete_events
DELETE FROM integration_event WHERE account_id = :account_id AND id IN (
    SELECT id FROM integration_event WHERE account_id = :account_id AND integration_id = :id LIMIT :most
);

-- name: finish
DELETE FROM disconnected_integration WHERE account_id = :account_id AND id = :id;
