-- fragment: may_be_queued
-- Who still has to confirm is not queued. If the platform may know them, it has to learn that they left, were
-- erased or are to be removed.
(s.must_confirm = 0
 OR (t.subscriber_id IS NOT NULL
     AND (s.status <> 'active' OR s.erased_ms IS NOT NULL OR t.removed_ms IS NOT NULL)))

-- name: queue_changed
-- `due_ms` 0: before the first sync. Who was written less than a minute ago waits until that minute is over,
-- so that several changes become one write; who left, was erased or is to be removed does not wait. What was
-- given up is tried again, because something changed.
INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id, due_ms)
SELECT :integration_id, s.id, s.account_id,
    CASE WHEN s.erased_ms IS NULL
        AND s.status <> 'unsubscribed'
        AND s.must_confirm = 0
        AND t.synced_ms + :gap_ms > :now_ms
        THEN t.synced_ms + :gap_ms ELSE 0 END
FROM {list :ids AS i} CROSS JOIN subscriber AS s
LEFT JOIN integration_subscriber AS t ON t.integration_id = :integration_id AND t.subscriber_id = s.id
WHERE s.id = i.value AND s.account_id = :account_id AND s.campaign_id = :campaign_id AND {may_be_queued}
ON CONFLICT (integration_id, subscriber_id)
DO UPDATE SET due_ms = excluded.due_ms, tries = 0, failed_ms = NULL;

-- name: next_advocates
-- The next advocates of a pass over all advocates.
SELECT id, created_ms FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL AND is_advocate = 1
  AND (created_ms, id) < (:below_ms, :below_id)
ORDER BY created_ms DESC, id DESC
LIMIT :most;

-- name: next_all
-- The next subscribers of a pass over everybody.
SELECT id, created_ms FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
  AND (created_ms, id) < (:below_ms, :below_id)
ORDER BY created_ms DESC, id DESC
LIMIT :most;

-- name: queue_pass
-- What waits or was given up stays as it is.
INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id, due_ms)
SELECT :integration_id, s.id, s.account_id, :now_ms FROM {list :ids AS i} CROSS JOIN subscriber AS s
LEFT JOIN integration_subscriber AS t ON t.integration_id = :integration_id AND t.subscriber_id = s.id
WHERE s.id = i.value AND s.account_id = :account_id AND s.campaign_id = :campaign_id AND {may_be_queued}
ON CONFLICT (integration_id, subscriber_id) DO UPDATE
    SET due_ms = COALESCE(integration_subscriber.due_ms, excluded.due_ms)
    WHERE integration_subscriber.failed_ms IS NULL;

-- name: move_pass
-- How far the pass is.
UPDATE integration SET pass = :pass_list, pass_ms = :pass_ms, pass_id = :pass_id
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: write_all_again
-- Begin a new pass, because what we write has changed.
UPDATE integration SET fields_ms = :now_ms, pass = 'advocates', pass_ms = :top_ms, pass_id = ''
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: due
-- Subscribers to write now, with what the platform last got.
SELECT t.subscriber_id, t.remote_id, t.written, t.synced_ms, t.seen_ms, t.tries, s.email, s.name,
       s.ref_code, s.status, s.origin,
       s.referrer_code, s.referral_status, s.referrals_verified, s.received_ms, s.erased_ms, s.must_confirm,
       t.removed_ms, s.adjustments, s.link_version
FROM integration_subscriber AS t JOIN subscriber AS s ON s.id = t.subscriber_id
WHERE t.account_id = :account_id AND t.integration_id = :integration_id AND t.due_ms <= :now_ms
ORDER BY t.due_ms, t.subscriber_id
LIMIT :most;

-- name: set_written
-- Who was erased meanwhile leaves nothing. The rows name the integration, so that SQLite looks each one up
-- instead of reading the whole list for every batch.
UPDATE integration_subscriber SET
    written = CASE
        WHEN (SELECT s.erased_ms FROM subscriber AS s WHERE s.id = o.subscriber_id) IS NULL THEN o.written
        END
FROM {rows :states AS o (integration_id TEXT, subscriber_id TEXT, written TEXT)}
WHERE integration_subscriber.account_id = :account_id
  AND integration_subscriber.integration_id = o.integration_id
  AND integration_subscriber.subscriber_id = o.subscriber_id;

-- name: set_outcomes
-- Who was erased meanwhile leaves nothing.
UPDATE integration_subscriber SET remote_id = o.remote_id,
    written = CASE
        WHEN (SELECT s.erased_ms FROM subscriber AS s WHERE s.id = o.subscriber_id) IS NULL THEN o.written
        END,
    synced_ms = o.synced_ms, due_ms = o.due_ms,
    tries = o.tries, reason = o.reason, failed_ms = o.failed_ms,
    removed_ms = CASE WHEN o.is_active = 0 THEN integration_subscriber.removed_ms END
FROM {rows :outcomes AS o (
    integration_id TEXT, subscriber_id TEXT, remote_id TEXT, written TEXT, synced_ms BIGINT, due_ms BIGINT,
    tries BIGINT, reason TEXT, failed_ms BIGINT, is_active BIGINT
)}
WHERE integration_subscriber.account_id = :account_id
  AND integration_subscriber.integration_id = o.integration_id
  AND integration_subscriber.subscriber_id = o.subscriber_id;

-- name: delete_erased
-- Delete what the integration knew of erased subscribers.
DELETE FROM integration_subscriber
WHERE account_id = :account_id AND integration_id = :integration_id AND subscriber_id {in :ids};

-- name: count_written
-- Count what was written.
UPDATE integration
SET synced = synced + :newly, last_out_ms = CASE WHEN :written > 0 THEN :now_ms ELSE last_out_ms END,
    last_out_count = CASE WHEN :written > 0 THEN :written ELSE last_out_count END,
    next_call_ms = :next_call_ms,
    failures = CASE WHEN :is_garbled = 1 THEN failures ELSE 0 END,
    problem = CASE WHEN :is_garbled = 1 THEN problem END,
    problem_ms = CASE WHEN :is_garbled = 1 THEN problem_ms END
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: finish_first_sync
-- Record that everybody was written once.
UPDATE integration SET first_sync_ms = :now_ms
WHERE account_id = :account_id
  AND id = :integration_id
  AND lease_token = :token
  AND first_sync_ms IS NULL
  AND pass IS NULL
  AND is_reading = 0;
