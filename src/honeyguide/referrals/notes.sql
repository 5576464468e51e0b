-- fragment: note
id, subscriber_id, text, written_ms

-- name: of_subscriber
SELECT {note} FROM subscriber_note
WHERE account_id = :account_id AND subscriber_id = :subscriber_id ORDER BY written_ms DESC, id DESC;

-- name: by_id
SELECT {note} FROM subscriber_note WHERE account_id = :account_id AND id = :id;

-- name: add
{insert subscriber_note: id, account_id, subscriber_id, text, written_ms = :now_ms};

-- name: remove
DELETE FROM subscriber_note WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND id = :id;

-- name: erase
DELETE FROM subscriber_note WHERE account_id = :account_id AND subscriber_id = :subscriber_id;
