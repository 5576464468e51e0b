-- fragment: email
id, account_id, kind, to_email AS "to", from_name, reply_to, unsubscribe_url, subject, body_text AS text,
body_html AS html,
created_ms, attempts

-- name: due
-- Without emails to subscribers of paused accounts.
SELECT id FROM letter WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms
  AND NOT (kind {in :to_subscribers} AND account_id IN (SELECT id FROM account WHERE paused_ms IS NOT NULL))
ORDER BY waited_for DESC, due_ms
LIMIT :most;

-- name: claim (sqlite)
-- The condition is repeated outside the subselect, so that two processes cannot claim the same rows. The
-- attempt is counted here, so that a process that dies while sending is counted too.
UPDATE letter SET lease_token = :token, lease_until_ms = :until_ms, attempts = attempts + 1
WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms AND id IN (
    SELECT id FROM letter WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms AND id {in :ids}
)
RETURNING {email};

-- name: claim (postgres)
-- ARRAY() runs the subselect once; as a plain IN the planner may run it again for every row and lock more
-- than the batch.
UPDATE letter SET lease_token = :token, lease_until_ms = :until_ms, attempts = attempts + 1
WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms AND id = ANY (ARRAY (
    SELECT id FROM letter
    WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms AND id {in :ids} FOR UPDATE SKIP LOCKED
))
RETURNING {email};

-- name: cancel_unwanted
-- Emails that nobody asked for, to subscribers who stopped them or left.
UPDATE letter SET
    due_ms = NULL, error = 'Cancelled: the person wants no more of these emails.', lease_token = NULL,
    lease_until_ms = 0,
    body_text = NULL, body_html = NULL, unsubscribe_url = NULL
WHERE account_id = :account_id AND id = :id AND lease_token = :token AND (
    EXISTS (SELECT 1
        FROM email_stop AS s
        WHERE s.subscriber_id = about_id AND s.account_id = letter.account_id)
    OR EXISTS (
        SELECT 1 FROM subscriber AS s
        WHERE s.id = about_id AND s.account_id = letter.account_id AND s.status = 'unsubscribed'
    )
);

-- name: cancel_bounced
-- Emails to subscribers at a mailbox that does not exist, as an earlier email of the account showed.
UPDATE letter SET
    due_ms = NULL, error = 'Cancelled: an earlier email to this address was returned.', bounced = 1,
    lease_token = NULL, lease_until_ms = 0,
    body_text = NULL, body_html = NULL, unsubscribe_url = NULL
WHERE account_id = :account_id AND id = :id AND lease_token = :token AND EXISTS (
    SELECT 1 FROM letter AS b
    WHERE b.account_id = :account_id AND b.mailbox = letter.mailbox AND b.bounced = 1
);

-- name: is_ours
-- Is the email still leased by this process?
SELECT 1 FROM letter WHERE account_id = :account_id AND id = :id AND lease_token = :token;

-- name: record_sent
-- The mail server accepted the email.
UPDATE letter SET
    sent_ms = :now_ms, due_ms = NULL, error = NULL, lease_token = NULL, lease_until_ms = 0,
    body_text = CASE WHEN :forget = 1 THEN NULL ELSE body_text END,
    body_html = CASE WHEN :forget = 1 THEN NULL ELSE body_html END,
    unsubscribe_url = CASE WHEN :forget = 1 THEN NULL ELSE unsubscribe_url END
WHERE account_id = :account_id AND id = :id AND lease_token = :token;

-- name: record_deferred
-- The mail server wants us to try later.
UPDATE letter SET {assign due_ms, error, lease_token = NULL, lease_until_ms = 0}
WHERE account_id = :account_id AND id = :id AND lease_token = :token;

-- name: record_failed
-- The email cannot be sent.
UPDATE letter SET
    failed_ms = :now_ms, due_ms = NULL, error = :error, bounced = :bounced, lease_token = NULL,
    lease_until_ms = 0,
    body_text = CASE WHEN :forget = 1 THEN NULL ELSE body_text END,
    body_html = CASE WHEN :forget = 1 THEN NULL ELSE body_html END,
    unsubscribe_url = CASE WHEN :forget = 1 THEN NULL ELSE unsubscribe_url END
WHERE account_id = :account_id AND id = :id AND lease_token = :token;

-- name: release
-- Give back an email that was not tried.
-- touches: changes letter
UPDATE letter SET attempts = attempts - 1, lease_token = NULL, lease_until_ms = 0
WHERE account_id = :account_id AND id = :id AND lease_token = :token;
