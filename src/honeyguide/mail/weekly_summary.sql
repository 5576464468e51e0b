-- fragment: key_of_last
(SELECT 'weekly_summary:' || a.weekly_monday FROM account AS a WHERE a.id = :account_id)

-- name: cancel_unsent
-- Without its key, a new one can be queued.
UPDATE letter SET
    to_email = NULL, mailbox = NULL, unsubscribe_url = NULL, subject = NULL, body_text = NULL,
    body_html = NULL, once_key = NULL,
    error = 'Cancelled: written again after an erasure.', due_ms = NULL, lease_token = NULL,
    lease_until_ms = 0
WHERE account_id = :account_id AND due_ms IS NOT NULL AND once_key = {key_of_last};

-- name: delete_notification
-- Delete the summary of a week, to make it again.
DELETE FROM notice WHERE account_id = :account_id AND once_key = {key_of_last};

-- name: make_due_again
-- Make the weekly summary due now.
UPDATE account SET weekly_monday = '', weekly_due_ms = 0 WHERE id = :account_id;
