-- name: insert_event
-- Nothing if it came before: the row count is the answer. What has no time of its own may come again once it
-- was applied.
INSERT INTO integration_event (id, integration_id, account_id, digest, content, received_ms, due_ms)
VALUES (:id, :integration_id, :account_id, :digest, :content, :now_ms, :now_ms)
ON CONFLICT (integration_id, digest) DO UPDATE
    SET content = excluded.content, received_ms = excluded.received_ms, due_ms = excluded.due_ms, tries = 0
    WHERE :has_time = 0 AND integration_event.due_ms IS NULL;

-- name: note_refused
-- Record why a webhook of the platform was refused.
UPDATE integration
SET refused_hook = :reason, refused_hook_ms = :now_ms
WHERE account_id = :account_id AND id = :id;

-- name: due_events
-- Events of the platform that wait to be read.
SELECT id, content, received_ms, tries FROM integration_event
WHERE account_id = :account_id AND integration_id = :integration_id AND due_ms <= :now_ms
ORDER BY due_ms, id
LIMIT :most;

-- name: finish_event
-- Its content is no longer needed.
UPDATE integration_event SET content = NULL, due_ms = NULL
WHERE account_id = :account_id AND integration_id = :integration_id AND id = :id;

-- name: delay_event
-- Try to read an event later.
UPDATE integration_event SET due_ms = :due_ms, tries = tries + 1
WHERE account_id = :account_id AND integration_id = :integration_id AND id = :id;

-- name: old
-- What waits is kept longer, because the platform does not send it again.
SELECT id, received_ms FROM integration_event
WHERE received_ms < :before_ms AND (due_ms IS NULL OR received_ms < :waiting_before_ms)
LIMIT :most;

-- name: purge
-- Not one that came again meanwhile.
DELETE FROM integration_event WHERE (id, received_ms) IN (
    SELECT r.id, r.received_ms FROM {rows :rows AS r (id TEXT, received_ms BIGINT)}
);

-- name: by_remote_id
-- The subscriber whom the platform knows by this id.
SELECT subscriber_id FROM integration_subscriber
WHERE account_id = :account_id AND integration_id = :integration_id AND remote_id = :remote_id
LIMIT 1;

-- name: known
-- Subscribers by address, with what is known of them there.
SELECT s.email_key, s.status, s.unsubscribed_ms, t.remote_id,
       CASE WHEN t.written IS NULL THEN 0 ELSE 1 END AS has_state,
       t.removed_ms
FROM {list :email_keys AS i} CROSS JOIN subscriber AS s
LEFT JOIN integration_subscriber AS t ON t.integration_id = :integration_id AND t.subscriber_id = s.id
WHERE s.email_key = i.value
  AND s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND COALESCE(s.erased_ms, 0) = 0;

-- name: set_remote
-- Who still has to confirm is not queued.
INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id, remote_id, due_ms)
SELECT :integration_id, s.id, s.account_id, :remote_id, CASE WHEN s.must_confirm = 0 THEN 0 END
FROM subscriber AS s
WHERE s.id = :subscriber_id
  AND s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND COALESCE(s.erased_ms, 0) = 0
ON CONFLICT (integration_id, subscriber_id)
DO UPDATE SET remote_id = COALESCE(excluded.remote_id, integration_subscriber.remote_id);

-- name: written
-- What we last wrote to the platform about a subscriber.
SELECT written FROM integration_subscriber
WHERE account_id = :account_id AND integration_id = :integration_id AND subscriber_id = :subscriber_id;

-- name: removed
-- Is the subscriber one whom the operator removed here?
SELECT subscriber_id FROM integration_subscriber
WHERE account_id = :account_id
  AND integration_id = :integration_id
  AND subscriber_id = :subscriber_id
  AND removed_ms IS NOT NULL;

-- name: set_written
-- What the platform now has of a subscriber.
UPDATE integration_subscriber
SET written = :written, remote_id = CASE WHEN :is_gone = 1 THEN NULL ELSE remote_id END,
    removed_ms = CASE WHEN :has_left = 1 THEN removed_ms END
WHERE account_id = :account_id AND integration_id = :integration_id AND subscriber_id = :subscriber_id;

-- name: erased_since
-- Whether this person was erased after they joined there.
SELECT id FROM erasure
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND person_key {in :person_keys}
  AND erased_ms >= :since_ms
LIMIT 1;

-- name: note_received
-- Record when the platform last told us something.
UPDATE integration SET last_in_ms = :now_ms, last_in_kind = :kind
WHERE account_id = :account_id AND id = :integration_id;
