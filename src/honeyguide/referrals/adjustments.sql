-- name: of_subscriber
SELECT id, amount, reason, actor_kind, actor_id, adjusted_ms FROM adjustment
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :subscriber_id ORDER BY id DESC;

-- name: insert
{insert adjustment:
    id, account_id, campaign_id, subscriber_id, subscriber_created_ms, amount, reason, actor_kind, actor_id,
    adjusted_ms
};

-- name: add
UPDATE subscriber SET adjustments = adjustments + :amount
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: erase
-- What they add up to goes with the subscriber's other data.
DELETE FROM adjustment WHERE account_id = :account_id AND subscriber_id = :subscriber_id;
