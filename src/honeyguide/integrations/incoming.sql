-- name: insert_event
-- Nothing if it came before: the row count is the answer.
INSERT INTO integration_event (id, integration_id, account_id, digest, content, received_ms, due_ms)
VALUES (:id, :integration_id, :account_id, :digest, :content, :now_ms, :now_ms)
ON CONFLICT (integration_id, digest) DO NOTHING;

-- name: note_refused
UPDATE integration SET refused_hook = :reason, refused_hook_ms = :now_ms WHERE account_id = :account_id AND id = :id;

-- name: due_events
SELECT id, content, received_ms, tries FROM integration_event
WHERE account_id = :account_id AND integration_id = :integration_id AND due_ms <= :now_ms ORDER BY due_ms, id LIMIT :most;

-- name: finish_event
-- Its content is no longer needed.
UPDATE integration_event SET content = NULL, due_ms = NULL
WHERE account_id = :account_id AND integration_id = :integration_id AND id = :id;

-- name: delay_event
UPDATE integration_event SET due_ms = :due_ms, tries = tries + 1
WHERE account_id = :account_id AND integration_id = :integration_id AND id = :id;

-- name: purge
DELETE FROM integration_event WHERE id IN (SELECT id FROM integration_event WHERE received_ms < :before_ms LIMIT :most);

-- name: by_remote_id
SELECT subscriber_id FROM integration_subscriber
WHERE account_id = :account_id AND integration_id = :integration_id AND remote_id = :remote_id LIMIT 1;

-- name: known
-- Subscribers by address, with what is known of them there.
SELECT s.email_key, s.status, t.remote_id
FROM {list :email_keys AS i} CROSS JOIN subscriber AS s
LEFT JOIN integration_subscriber AS t ON t.integration_id = :integration_id AND t.subscriber_id = s.id
WHERE s.email_key = i.value AND s.account_id = :account_id AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0;

-- name: set_remote
INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id, remote_id, due_ms)
SELECT :integration_id, s.id, s.account_id, :remote_id, 0 FROM subscriber AS s
WHERE s.id = :subscriber_id AND s.account_id = :account_id AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0
ON CONFLICT (integration_id, subscriber_id) DO UPDATE SET remote_id = COALESCE(excluded.remote_id, integration_subscriber.remote_id);

-- name: written
SELECT written FROM integration_subscriber
WHERE account_id = :account_id AND integration_id = :integration_id AND subscriber_id = :subscriber_id;

-- name: set_written
UPDATE integration_subscriber SET written = :written, remote_id = CASE WHEN :is_gone = 1 THEN NULL ELSE remote_id END
WHERE account_id = :account_id AND integration_id = :integration_id AND subscriber_id = :subscriber_id;

-- name: erased_since
-- Whether this person was erased after the platform said something about them.
SELECT id FROM erasure
WHERE account_id = :account_id AND campaign_id = :campaign_id AND person_key = :person_key AND erased_ms >= :since_ms LIMIT 1;

-- name: note_received
UPDATE integration SET last_in_ms = :now_ms, last_in_kind = :kind WHERE account_id = :account_id AND id = :id;
