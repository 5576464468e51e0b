-- name: settle
-- Comes first, and only with the lease: an erasure or deletion waits for us, and then finds the attempt.
-- A delivery that was cancelled in flight stays cancelled, unless it arrived.
UPDATE delivery SET tries = tries + 1, due_ms = o.due_ms, leased_until_ms = 0, lease_token = NULL,
    status = CASE WHEN delivery.status = 'cancelled'
        AND o.status <> 'delivered' THEN 'cancelled' ELSE o.status END
FROM {rows :outcomes AS o (delivery_id TEXT, token TEXT, status TEXT, due_ms BIGINT)}
WHERE delivery.id = o.delivery_id AND delivery.lease_token = o.token
RETURNING delivery.id;

-- name: insert_attempts
-- What came of a batch of attempts.
-- touches: adds attempt
INSERT INTO attempt (id, account_id, delivery_id, at_ms, status_code, latency_ms, error, response)
SELECT o.attempt_id, o.account_id, o.delivery_id, o.at_ms, o.status_code, o.latency_ms, o.error, o.response
FROM {rows :outcomes AS o (
    attempt_id TEXT, account_id TEXT, delivery_id TEXT, at_ms BIGINT, status_code BIGINT,
    latency_ms BIGINT, error TEXT, response TEXT
)};

-- name: well_again
-- Webhooks that answered again are no longer failing.
-- touches: changes webhook
UPDATE webhook
SET failing_since_ms = NULL, warned_ms = NULL, failed_ms = NULL
WHERE failing_since_ms IS NOT NULL
  AND (account_id, id) IN (
    SELECT o.account_id, o.webhook_id FROM {rows :outcomes AS o (account_id TEXT, webhook_id TEXT)}
);

-- name: fails
-- After a long time without deliveries, a failure starts a new streak.
UPDATE webhook SET failed_ms = :now_ms,
    failing_since_ms = CASE
        WHEN failed_ms >= :quiet_ms THEN COALESCE(failing_since_ms, :now_ms)
        ELSE :now_ms
        END,
    warned_ms = CASE WHEN failed_ms >= :quiet_ms THEN warned_ms END
WHERE account_id = :account_id AND id = :id
RETURNING failing_since_ms, warned_ms, disabled_ms;

-- name: warn
-- Record that the owner was warned that a webhook fails.
UPDATE webhook SET warned_ms = :now_ms WHERE account_id = :account_id AND id = :id AND warned_ms IS NULL;

-- name: lock_webhook
-- Waits for events that are being committed, so that their deliveries are found and cancelled.
SELECT id FROM webhook WHERE account_id = :account_id AND id = :id;

-- name: disable
-- Disable a webhook that has failed for too long.
UPDATE webhook SET disabled_ms = :now_ms, disabled_reason = :reason
WHERE account_id = :account_id AND id = :id AND disabled_ms IS NULL;

-- name: cancel_all
-- A delivery in flight keeps its lease, so that its result is still recorded.
UPDATE delivery
SET status = 'cancelled'
WHERE account_id = :account_id AND webhook_id = :id AND status = 'pending';

-- name: owner_email
-- The email address of the account.
SELECT email FROM account WHERE id = :account_id;
