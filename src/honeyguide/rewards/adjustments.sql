-- name: of_subscriber
-- Adjustments of a subscriber's progress, with who made them and why.
SELECT id, amount, reason, actor_kind, actor_id, adjusted_ms FROM adjustment
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :subscriber_id
ORDER BY id DESC;

-- name: insert
-- An adjustment.
{insert adjustment:
    id, account_id, campaign_id, subscriber_id, subscriber_created_ms, amount, reason, actor_kind, actor_id,
    adjusted_ms
};

-- name: add
-- Add the adjustment to the subscriber's progress.
UPDATE subscriber SET adjustments = adjustments + :amount
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: carry_over
-- What subscribers had in another tool, as adjustments.
INSERT INTO adjustment (id, account_id, campaign_id, subscriber_id, subscriber_created_ms, amount, reason,
    actor_kind, actor_id,
    adjusted_ms)
SELECT r.id, :account_id, :campaign_id, r.subscriber_id, r.subscriber_created_ms, r.amount, :reason,
       :actor_kind, :actor_id, :now_ms
FROM {rows :rows AS r (id TEXT, subscriber_id TEXT, subscriber_created_ms BIGINT, amount BIGINT)} WHERE true;

-- name: add_each
-- Add these adjustments to the subscribers' progress.
UPDATE subscriber SET adjustments = adjustments + r.amount
FROM {rows :rows AS r (subscriber_id TEXT, amount BIGINT)}
WHERE subscriber.id = r.subscriber_id
  AND subscriber.account_id = :account_id
  AND subscriber.campaign_id = :campaign_id;

-- name: erase
-- What they add up to goes with the subscriber's other data.
DELETE FROM adjustment WHERE account_id = :account_id AND subscriber_id = :subscriber_id;
