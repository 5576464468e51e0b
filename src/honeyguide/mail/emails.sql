-- fragment: email
id, kind, to_email, subject, about_id, created_ms, due_ms, attempts, sent_ms, failed_ms, error, held_code,
bounced

-- name: insert
-- touches: adds letter
-- An email whose key was already used is not queued again. PostgreSQL waits for another transaction with the
-- same key.
{insert letter:
    id, account_id, kind, to_email, mailbox, from_name, reply_to, unsubscribe_url, subject, body_text,
    body_html,
    about_id, once_key, waited_for, held_code, created_ms = :now_ms, due_ms, lease_until_ms
} ON CONFLICT (account_id, once_key)
WHERE once_key IS NOT NULL DO NOTHING;

-- name: of_account
-- Emails of the account, the newest first.
SELECT {email} FROM letter
WHERE account_id = :account_id
ORDER BY created_ms DESC, id DESC
LIMIT :per_page OFFSET :skip;

-- name: of_subscriber
-- Emails about or to a subscriber, the newest first.
SELECT {email} FROM letter
WHERE account_id = :account_id AND about_id = :about_id
ORDER BY created_ms DESC, id DESC;

-- name: find_bounces
-- Mailboxes of a subscriber that refused an email for good.
SELECT mailbox, COALESCE(failed_ms, created_ms) AS bounced_ms FROM letter
WHERE account_id = :account_id AND about_id = :about_id AND bounced = 1 AND mailbox IS NOT NULL
ORDER BY created_ms DESC;

-- name: count_recent
-- How many emails were stored lately, for the limits.
SELECT COALESCE(SUM(CASE WHEN account_id = :account_id AND created_ms > :since_ms THEN 1 ELSE 0 END),
       0) AS of_account,
       COALESCE(SUM(CASE WHEN account_id = :account_id THEN 1 ELSE 0 END), 0) AS of_account_today,
       COUNT(*) AS of_all,
       COALESCE(SUM(CASE WHEN created_ms > :hour_ago_ms THEN 1 ELSE 0 END), 0) AS of_all_this_hour
FROM letter WHERE mailbox = :mailbox AND created_ms > :day_ago_ms AND kind = :kind;

-- name: erase
-- A server's refusal may quote the address, so the error goes too. Without its lease, an email that is being
-- sent cannot be recorded.
UPDATE letter SET
    to_email = NULL, mailbox = NULL, from_name = NULL, unsubscribe_url = NULL, subject = NULL,
    body_text = NULL, body_html = NULL,
    error = CASE WHEN due_ms IS NULL
        AND held_code IS NULL THEN NULL ELSE 'Cancelled: the person was erased.' END,
    due_ms = NULL, held_code = NULL, bounced = 0, lease_token = NULL, lease_until_ms = 0
WHERE account_id = :account_id AND about_id = :about_id;

-- name: replace_ending
-- Of a paragraph. The text of what was sent is not kept.
UPDATE letter
SET body_text = REPLACE(body_text, :ending, :instead),
    body_html = REPLACE(body_html, :html_ending, :html_instead)
WHERE account_id = :account_id AND kind = :kind AND body_text IS NOT NULL;

-- name: withdraw
-- An attempt is counted when the email is claimed, so this one was never on its way.
DELETE
FROM letter
WHERE account_id = :account_id AND once_key = :once_key AND due_ms IS NOT NULL AND attempts = 0;

-- name: cancel_unsent
-- Cancel what is not sent yet, of one kind.
UPDATE letter SET due_ms = NULL, held_code = NULL, error = :error, lease_token = NULL, lease_until_ms = 0
WHERE account_id = :account_id AND about_id = :about_id AND kind = :kind AND {is_unsent};

-- fragment: is_unsent
(due_ms IS NOT NULL OR held_code IS NOT NULL)

-- name: unsent_to
-- Unsent emails of these kinds to a subscriber.
SELECT id, body_text, body_html, unsubscribe_url FROM letter
WHERE account_id = :account_id AND about_id = :about_id AND kind {in :kinds} AND {is_unsent};

-- name: rewrite
-- Without its lease, one that is about to be sent as it was is not sent.
UPDATE letter
SET {assign to_email, mailbox, body_text, body_html, unsubscribe_url, lease_token = NULL, lease_until_ms = 0}
WHERE account_id = :account_id AND id = :id AND {is_unsent};

-- name: mark_all_sent
-- Call all due emails sent, as the demo does, which has no mail server.
UPDATE letter
SET sent_ms = due_ms, due_ms = NULL, attempts = 1
WHERE account_id = :account_id AND due_ms <= :until_ms;

-- name: old
-- Emails whose text is old enough to be deleted.
SELECT id FROM letter WHERE body_text IS NOT NULL AND due_ms IS NULL AND created_ms <= :expired_ms
ORDER BY created_ms
LIMIT :most;

-- name: purge
-- Delete the text of these emails.
UPDATE letter
SET body_text = NULL, body_html = NULL, unsubscribe_url = NULL
WHERE id {in :rows} AND due_ms IS NULL;

-- name: text_of
-- The text of an email.
SELECT body_text FROM letter WHERE account_id = :account_id AND id = :id;

-- name: backlog
-- How many emails are overdue, and since when.
SELECT COUNT(*) AS n, MIN(due_ms) AS since_ms FROM letter WHERE due_ms IS NOT NULL AND due_ms <= :now_ms;

-- name: unsent
-- How many emails are not sent yet, up to a limit, and since when.
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM letter WHERE due_ms IS NOT NULL LIMIT :most) AS counted) AS n,
    (SELECT MIN(created_ms) FROM letter WHERE due_ms IS NOT NULL) AS since_ms;
