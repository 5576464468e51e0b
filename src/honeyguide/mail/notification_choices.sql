-- name: of_account
-- How the account wants its notifications.
SELECT kind, delivery, to_slack FROM notification_choice WHERE account_id = :account_id;

-- name: delivery
-- How the account wants one kind of notification.
SELECT c.delivery, c.to_slack, a.time_zone,
    (SELECT COUNT(*) FROM slack_webhook AS w WHERE w.account_id = a.id) AS has_slack
FROM account AS a
LEFT JOIN notification_choice AS c ON c.account_id = a.id AND c.kind = :kind
WHERE a.id = :account_id;

-- name: set
-- Choose how to get a kind of notification.
{insert notification_choice: account_id, kind, delivery, to_slack}
ON CONFLICT (account_id, kind) DO UPDATE SET delivery = excluded.delivery, to_slack = excluded.to_slack;

-- name: reset
-- Return to the default.
DELETE FROM notification_choice WHERE account_id = :account_id AND kind = :kind;

-- name: cancel_digest
-- Take notifications of a kind out of the daily digest.
UPDATE notice
SET digest_due_ms = NULL
WHERE account_id = :account_id AND kind = :kind AND digest_due_ms IS NOT NULL;
