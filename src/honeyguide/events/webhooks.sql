-- name: lock_account
-- Lock the account, whose webhooks are limited in number.
SELECT id FROM account WHERE id = :account_id;

-- name: count
-- How many webhooks the account has.
SELECT COUNT(*) AS n FROM webhook WHERE account_id = :account_id;

-- name: insert
-- A new webhook.
{insert webhook: id, account_id, campaign_id, url, {flags}, secret, created_ms = :now_ms};

-- name: list
-- Webhooks of the campaign or of the account, the newest first.
SELECT {webhook} FROM webhook
WHERE account_id = :account_id AND COALESCE(campaign_id, '') = :campaign_id
ORDER BY created_ms DESC, id DESC;

-- name: by_id
-- One webhook.
SELECT {webhook} FROM webhook
WHERE account_id = :account_id AND COALESCE(campaign_id, '') = :campaign_id AND id = :id;

-- name: lock
-- FOR UPDATE also waits for events that are being committed: each sees the webhook either before the change
-- or after it.
SELECT old_secrets FROM webhook WHERE account_id = :account_id AND id = :id;

-- name: disabled_ms
-- Waits for a transaction that disables the webhook, and keeps its state until our deliveries are written.
SELECT disabled_ms FROM webhook WHERE account_id = :account_id AND id = :id;

-- fragment: repaired
-- A change is taken as a repair: the webhook is enabled again and its failures are forgotten.
failing_since_ms = NULL, warned_ms = NULL, failed_ms = NULL, disabled_ms = NULL, disabled_reason = NULL

-- name: update
-- Change a webhook.
UPDATE webhook SET {assign url, {flags}}, {repaired}
WHERE account_id = :account_id AND id = :id;

-- name: set_sparkloop_token
-- Set the token that receivers of the compatible format expect.
UPDATE webhook SET {assign sparkloop_token}, {repaired}
WHERE account_id = :account_id AND id = :id;

-- name: rotate
-- Give a webhook a new secret, and let the old one work for a while.
UPDATE webhook SET {assign old_secrets, secret}
WHERE account_id = :account_id AND id = :id;

-- name: delete
-- Delete a webhook.
DELETE FROM webhook WHERE account_id = :account_id AND id = :id;

-- name: count_deliveries
-- How many deliveries a webhook has, up to a limit.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM delivery WHERE account_id = :account_id AND webhook_id = :webhook_id LIMIT :most
) AS counted;

-- name: deliveries
-- The page is found in the index before anything is looked up for its rows.
SELECT d.id, d.event_id, e.type, d.status, d.due_ms, d.created_ms
FROM delivery AS d JOIN event AS e ON e.id = d.event_id
WHERE d.id IN (
    SELECT id FROM delivery WHERE account_id = :account_id AND webhook_id = :webhook_id
    ORDER BY created_ms DESC, id DESC LIMIT :most OFFSET :skip
) ORDER BY d.created_ms DESC, d.id DESC;

-- name: count_failed
-- How many deliveries of a webhook failed, up to a limit.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM delivery
    WHERE account_id = :account_id AND webhook_id = :webhook_id AND status = 'failed'
    LIMIT :most
) AS counted;

-- name: failed
-- Failed deliveries of a webhook.
SELECT d.id, d.event_id, e.type, d.status, d.due_ms, d.created_ms
FROM delivery AS d JOIN event AS e ON e.id = d.event_id
WHERE d.id IN (
    SELECT id FROM delivery WHERE account_id = :account_id AND webhook_id = :webhook_id AND status = 'failed'
    ORDER BY created_ms DESC, id DESC LIMIT :most OFFSET :skip
) ORDER BY d.created_ms DESC, d.id DESC;

-- name: bodies
-- The bodies of these events.
SELECT id, body FROM event WHERE account_id = :account_id AND id {in :ids} AND body IS NOT NULL;

-- name: delivery
-- One delivery.
SELECT d.id, d.event_id, e.type, d.status, d.due_ms, d.created_ms
FROM delivery AS d JOIN event AS e ON e.id = d.event_id
WHERE d.account_id = :account_id AND d.webhook_id = :webhook_id AND d.id = :id;

-- name: attempts
-- Attempts of these deliveries.
SELECT delivery_id, at_ms, status_code, latency_ms, error, response FROM attempt
WHERE account_id = :account_id AND delivery_id {in :ids}
ORDER BY at_ms, id;

-- name: attempts_of
-- Attempts of one delivery.
SELECT delivery_id, at_ms, status_code, latency_ms, error, response FROM attempt
WHERE account_id = :account_id AND delivery_id = :delivery_id
ORDER BY at_ms, id;

-- name: resend
-- A delivery that is being sent keeps its lease, so that its result counts. Any other is due at once.
UPDATE delivery SET status = 'pending', tries = 0, due_ms = :now_ms,
    lease_token = CASE WHEN status = 'pending' THEN lease_token END,
    leased_until_ms = CASE WHEN status = 'pending' THEN leased_until_ms ELSE 0 END
WHERE account_id = :account_id AND webhook_id = :webhook_id AND id = :id
  AND event_id IN (SELECT id FROM event WHERE account_id = :account_id AND body IS NOT NULL);

-- name: resend (postgres)
-- Locks the event, so that an erasure waits and then finds these deliveries.
UPDATE delivery SET status = 'pending', tries = 0, due_ms = :now_ms,
    lease_token = CASE WHEN status = 'pending' THEN lease_token END,
    leased_until_ms = CASE WHEN status = 'pending' THEN leased_until_ms ELSE 0 END
WHERE account_id = :account_id AND webhook_id = :webhook_id AND id = :id AND event_id = (
    SELECT e.id FROM event AS e
    WHERE e.id = delivery.event_id AND e.account_id = :account_id AND e.body IS NOT NULL FOR SHARE
);

-- name: replay
-- Deliver again.
UPDATE delivery SET status = 'pending', tries = 0, due_ms = :now_ms, leased_until_ms = 0, lease_token = NULL
WHERE account_id = :account_id
  AND webhook_id = :webhook_id
  AND created_ms >= :since_ms
  AND status <> 'pending'
  AND event_id IN (SELECT id FROM event WHERE account_id = :account_id AND body IS NOT NULL);

-- name: backlog
-- How many deliveries are overdue, and since when.
SELECT COUNT(*) AS n, MIN(due_ms) AS since_ms FROM delivery WHERE status = 'pending' AND due_ms <= :now_ms;

-- name: due
-- Steps from webhook to webhook through the index of what is pending, and counts only so many of each. So a
-- long backlog costs no more than a short one.
WITH RECURSIVE waiting (webhook_id) AS (
    SELECT MIN(webhook_id) FROM delivery WHERE status = 'pending'
    UNION ALL
    SELECT (SELECT MIN(d.webhook_id) FROM delivery AS d
        WHERE d.status = 'pending' AND d.webhook_id > waiting.webhook_id)
    FROM waiting WHERE waiting.webhook_id IS NOT NULL
)
SELECT is_failing, CAST(SUM(n) AS BIGINT) AS n, MIN(since_ms) AS since_ms FROM (
    SELECT CASE WHEN w.failing_since_ms IS NULL THEN 0 ELSE 1 END AS is_failing,
        (SELECT COUNT(*) FROM (
            SELECT 1 FROM delivery AS d
            WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.due_ms <= :now_ms
            LIMIT :most
        ) AS counted) AS n,
        (SELECT d.due_ms
            FROM delivery AS d
            WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.due_ms <= :now_ms
            ORDER BY d.due_ms LIMIT 1) AS since_ms
    FROM waiting JOIN webhook AS w ON w.id = waiting.webhook_id WHERE w.disabled_ms IS NULL
) AS each_webhook GROUP BY is_failing
ORDER BY is_failing;
