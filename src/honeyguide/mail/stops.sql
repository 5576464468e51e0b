-- name: stop
INSERT INTO email_stop (subscriber_id, account_id, stopped_ms) VALUES (:subscriber_id, :account_id, :now_ms)
ON CONFLICT (subscriber_id) DO NOTHING;

-- name: resume
DELETE FROM email_stop WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: stopped_ms
SELECT stopped_ms FROM email_stop WHERE account_id = :account_id AND subscriber_id = :subscriber_id;
