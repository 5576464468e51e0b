-- fragment: written_unconfirmed
subscriber AS s CROSS JOIN integration_subscriber AS t
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.erased_ms IS NULL
  AND s.must_confirm = 1
  AND s.status = 'active'
  AND t.integration_id = :id AND t.subscriber_id = s.id AND t.synced_ms IS NOT NULL AND t.removed_ms IS NULL

-- name: count_unconfirmed
-- How many subscribers the platform no longer has, up to a limit.
SELECT COUNT(*) AS n FROM (SELECT 1 FROM {written_unconfirmed} LIMIT :most) AS found;

-- name: unconfirmed
-- Subscribers whom the platform no longer has.
SELECT s.id AS subscriber_id, s.email, s.name, t.synced_ms FROM {written_unconfirmed}
ORDER BY s.created_ms DESC, s.id DESC
LIMIT :most OFFSET :skip;

-- name: next_unconfirmed
-- The next of them to be removed here.
SELECT s.id FROM {written_unconfirmed} LIMIT :most;

-- name: mark_removed
-- Record that these subscribers were removed here.
UPDATE integration_subscriber SET removed_ms = :now_ms
WHERE account_id = :account_id AND integration_id = :id AND subscriber_id {in :ids} AND removed_ms IS NULL;
