-- name: stop
-- Stop emails to a subscriber. A final stop stays final.
{insert email_stop: subscriber_id, account_id, is_final, stopped_ms = :now_ms}
ON CONFLICT (subscriber_id) DO UPDATE SET is_final = 1 WHERE excluded.is_final = 1;

-- name: resume
-- Let emails go to the subscriber again.
DELETE FROM email_stop WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: stopped_ms
-- Since when emails are stopped, if they are.
SELECT stopped_ms FROM email_stop WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: is_final
-- Is the stop final?
SELECT is_final FROM email_stop WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: list
-- Subscribers who stopped our emails, the newest first.
SELECT s.id, s.email, s.name, p.stopped_ms FROM (
    SELECT i.subscriber_id, i.stopped_ms FROM email_stop AS i WHERE i.account_id = :account_id
    ORDER BY i.stopped_ms DESC, i.subscriber_id DESC LIMIT :most OFFSET :skip
) AS p JOIN subscriber AS s ON s.id = p.subscriber_id AND s.account_id = :account_id
ORDER BY p.stopped_ms DESC, p.subscriber_id DESC;

-- name: count
-- How many subscribers stopped our emails.
SELECT COUNT(*) AS n FROM email_stop WHERE account_id = :account_id;
