-- name: webhook_of
-- The Slack webhook of the account, and its last failure.
SELECT encrypted_url, host, error, failed_ms FROM slack_webhook WHERE account_id = :account_id;

-- name: all_encrypted_urls
-- All stored webhook URLs, to check that they can be decrypted.
SELECT encrypted_url FROM slack_webhook;

-- name: set_webhook
-- Connect Slack, in place of an earlier connection.
{insert slack_webhook: account_id, encrypted_url, host}
ON CONFLICT (account_id)
DO UPDATE SET encrypted_url = excluded.encrypted_url, host = excluded.host, error = NULL, failed_ms = NULL;

-- name: delete_webhook
-- Disconnect Slack.
DELETE FROM slack_webhook WHERE account_id = :account_id;

-- name: delete_messages
-- Delete messages that are not sent yet.
DELETE FROM slack_message WHERE account_id = :account_id;

-- name: insert
-- A message to send to Slack.
-- touches: adds slack_message
{insert slack_message: id, account_id, sentence, link, due_ms};

-- name: withdraw
-- Delete a message that is not sent yet.
DELETE FROM slack_message
WHERE account_id = :account_id
  AND sentence = :sentence
  AND link = :link
  AND due_ms > :now_ms
  AND attempts = 0;

-- name: due_accounts
-- Accounts with messages to send to Slack.
SELECT account_id FROM slack_message WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
GROUP BY account_id
ORDER BY MIN(due_ms), account_id
LIMIT :most;

-- name: claim (sqlite)
-- Lease the messages of an account, which are sent as one.
UPDATE slack_message SET lease_token = :token, lease_until_ms = :until_ms, attempts = attempts + 1
WHERE id IN (
    SELECT id FROM slack_message
    WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms AND account_id {in :accounts}
    ORDER BY due_ms LIMIT :batch
)
RETURNING id, account_id, sentence, link, attempts;

-- name: claim (postgres)
-- Lease the messages of an account, which are sent as one.
UPDATE slack_message SET lease_token = :token, lease_until_ms = :until_ms, attempts = attempts + 1
WHERE id = ANY (ARRAY (
    SELECT id FROM slack_message
    WHERE due_ms <= :now_ms AND lease_until_ms <= :now_ms AND account_id {in :accounts}
    ORDER BY due_ms LIMIT :batch FOR UPDATE SKIP LOCKED
))
RETURNING id, account_id, sentence, link, attempts;

-- name: delete_claimed
-- Delete the messages that were sent.
DELETE FROM slack_message WHERE account_id = :account_id AND lease_token = :token;

-- name: clear_error
-- Slack accepted a message again.
UPDATE slack_webhook SET error = NULL, failed_ms = NULL WHERE account_id = :account_id AND error IS NOT NULL;

-- name: defer
-- All of the account's, so that a webhook that does not respond costs one attempt, however many messages wait
-- for it.
UPDATE slack_message SET due_ms = :due_ms, lease_token = NULL, lease_until_ms = 0
WHERE account_id = :account_id AND due_ms < :due_ms;

-- name: set_error
-- Slack refused a message.
UPDATE slack_webhook
SET error = :error, failed_ms = COALESCE(failed_ms, :now_ms)
WHERE account_id = :account_id;
