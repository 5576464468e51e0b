-- fragment: note
id, subscriber_id, text, written_ms

-- name: of_subscriber
-- Notes about a subscriber.
SELECT {note} FROM subscriber_note
WHERE account_id = :account_id AND subscriber_id = :subscriber_id
ORDER BY written_ms DESC, id DESC;

-- name: of_subscribers
-- Notes about these subscribers.
SELECT {note} FROM subscriber_note
WHERE account_id = :account_id AND subscriber_id {in :ids}
ORDER BY subscriber_id, written_ms, id;

-- name: by_id
-- One note.
SELECT {note} FROM subscriber_note WHERE account_id = :account_id AND id = :id;

-- name: add
-- A new note.
{insert subscriber_note: id, account_id, subscriber_id, text, written_ms = :now_ms};

-- name: remove
-- Delete a note.
DELETE FROM subscriber_note WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND id = :id;

-- name: erase
-- Delete the notes about a subscriber who is erased.
DELETE FROM subscriber_note WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: lock
-- Lock these subscribers.
SELECT id FROM subscriber
WHERE id {in :ids} AND account_id = :account_id AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0
ORDER BY id DESC;

-- name: add_once
-- Notes of an import, unless the subscriber has the same note.
INSERT INTO subscriber_note (id, account_id, subscriber_id, text, written_ms)
SELECT r.id, :account_id, r.subscriber_id, r.text, COALESCE(r.written_ms, :now_ms)
FROM {rows :rows AS r (id TEXT, subscriber_id TEXT, text TEXT, written_ms BIGINT)}
WHERE NOT EXISTS (
    SELECT 1 FROM subscriber_note AS n
    WHERE n.subscriber_id = r.subscriber_id AND n.account_id = :account_id AND n.text = r.text
      AND n.written_ms = COALESCE(r.written_ms, n.written_ms)
)
  AND (SELECT COUNT(*)
      FROM subscriber_note AS n
      WHERE n.subscriber_id = r.subscriber_id AND n.account_id = :account_id) < :most;
