-- name: of_subscriber
-- Tags of a subscriber.
SELECT tag FROM subscriber_tag WHERE account_id = :account_id AND subscriber_id = :subscriber_id ORDER BY tag;

-- name: of_subscribers
-- Tags of these subscribers.
SELECT subscriber_id, tag FROM subscriber_tag
WHERE account_id = :account_id AND subscriber_id {in :ids}
ORDER BY subscriber_id, tag;

-- name: in_use
-- Jumps from each tag to the next one in the index, however many subscribers have it.
WITH RECURSIVE used (tag) AS (
    SELECT MIN(t.tag) FROM subscriber_tag AS t WHERE t.campaign_id = :campaign_id
    UNION ALL
    SELECT (SELECT MIN(t.tag) FROM subscriber_tag AS t
        WHERE t.campaign_id = :campaign_id AND t.tag > used.tag)
    FROM used WHERE used.tag IS NOT NULL
)
SELECT tag FROM used WHERE tag IS NOT NULL
LIMIT :most;

-- name: lock
-- Lock these subscribers.
SELECT id FROM subscriber
WHERE id {in :ids} AND account_id = :account_id AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0
ORDER BY id;

-- name: lock_by_email
-- Lock the subscribers with these email addresses.
SELECT id, email_key FROM subscriber
WHERE campaign_id = :campaign_id AND account_id = :account_id AND email_key {in :keys}
ORDER BY id;

-- name: add
-- Add tags.
INSERT INTO subscriber_tag (subscriber_id, tag, account_id, campaign_id, tagged_ms)
SELECT r.subscriber_id, r.tag, :account_id, :campaign_id, :now_ms
FROM {rows :rows AS r (subscriber_id TEXT, tag TEXT)}
WHERE r.tag IS NOT NULL
ON CONFLICT (subscriber_id, tag) DO NOTHING;

-- name: remove
-- Remove these tags from these subscribers.
DELETE FROM subscriber_tag WHERE account_id = :account_id AND subscriber_id {in :ids} AND tag {in :tags};

-- name: remove_others
-- Remove all tags of a subscriber except these.
DELETE FROM subscriber_tag WHERE account_id = :account_id AND subscriber_id = :subscriber_id
  AND tag NOT IN (SELECT t.value FROM {list :tags AS t});
