-- name: due_webhooks
-- Steps from webhook to webhook through the index of what is pending, so that a dead one's backlog is one step like any other.
WITH RECURSIVE waiting (webhook_id) AS (
    SELECT MIN(webhook_id) FROM delivery WHERE status = 'pending'
    UNION ALL
    SELECT (SELECT MIN(d.webhook_id) FROM delivery AS d WHERE d.status = 'pending' AND d.webhook_id > waiting.webhook_id)
    FROM waiting WHERE waiting.webhook_id IS NOT NULL
)
SELECT w.id, w.account_id, w.url, w.secret, w.old_secret, w.old_secret_until_ms
FROM waiting JOIN webhook AS w ON w.id = waiting.webhook_id
WHERE w.disabled_ms IS NULL AND EXISTS (
    SELECT 1 FROM delivery AS d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.due_ms <= :now_ms
      AND d.leased_until_ms <= :now_ms
) ORDER BY w.id;

-- name: current
SELECT id, account_id, url, secret, old_secret, old_secret_until_ms FROM webhook WHERE id = :id AND disabled_ms IS NULL;

-- name: claim (sqlite)
UPDATE delivery SET leased_until_ms = :until_ms, lease_token = :token WHERE id IN (
    SELECT id FROM delivery WHERE webhook_id = :webhook_id AND status = 'pending' AND due_ms <= :now_ms
      AND leased_until_ms <= :now_ms ORDER BY due_ms LIMIT :most
) AND status = 'pending' AND leased_until_ms <= :now_ms RETURNING id;

-- name: claim (postgres)
UPDATE delivery SET leased_until_ms = :until_ms, lease_token = :token WHERE id IN (
    SELECT id FROM delivery WHERE webhook_id = :webhook_id AND status = 'pending' AND due_ms <= :now_ms
      AND leased_until_ms <= :now_ms ORDER BY due_ms LIMIT :most FOR UPDATE SKIP LOCKED
) AND status = 'pending' AND leased_until_ms <= :now_ms RETURNING id;

-- name: claimed (sqlite)
SELECT d.id, d.tries, e.id AS event_id, e.body FROM delivery AS d JOIN event AS e ON e.id = d.event_id
WHERE d.id IN (SELECT value FROM json_each(:ids)) AND d.lease_token = :token AND e.body IS NOT NULL ORDER BY d.due_ms, d.id;

-- name: claimed (postgres)
SELECT d.id, d.tries, e.id AS event_id, e.body FROM delivery AS d JOIN event AS e ON e.id = d.event_id
WHERE d.id IN (SELECT json_array_elements_text(CAST(:ids AS JSON))) AND d.lease_token = :token AND e.body IS NOT NULL
ORDER BY d.due_ms, d.id;

-- name: record_attempts (sqlite)
INSERT INTO attempt (id, account_id, delivery_id, at_ms, status_code, latency_ms, error, response)
SELECT value ->> 'attempt_id', value ->> 'account_id', value ->> 'delivery_id', value ->> 'at_ms', value ->> 'status_code',
       value ->> 'latency_ms', value ->> 'error', value ->> 'response'
FROM json_each(:outcomes) WHERE EXISTS (
    SELECT 1 FROM delivery AS d JOIN event AS e ON e.id = d.event_id
    WHERE d.id = value ->> 'delivery_id' AND d.lease_token = value ->> 'token' AND e.body IS NOT NULL
);

-- name: record_attempts (postgres)
INSERT INTO attempt (id, account_id, delivery_id, at_ms, status_code, latency_ms, error, response)
SELECT o.attempt_id, o.account_id, o.delivery_id, o.at_ms, o.status_code, o.latency_ms, o.error, o.response
FROM json_to_recordset(CAST(:outcomes AS JSON)) AS o (attempt_id TEXT, account_id TEXT, delivery_id TEXT, token TEXT, at_ms BIGINT,
    status_code BIGINT, latency_ms BIGINT, error TEXT, response TEXT)
WHERE EXISTS (
    SELECT 1 FROM delivery AS d JOIN event AS e ON e.id = d.event_id
    WHERE d.id = o.delivery_id AND d.lease_token = o.token AND e.body IS NOT NULL
);

-- name: record_outcomes (sqlite)
UPDATE delivery SET status = o.value ->> 'status', tries = tries + 1, due_ms = o.value ->> 'due_ms', leased_until_ms = 0,
    lease_token = NULL
FROM json_each(:outcomes) AS o WHERE delivery.id = o.value ->> 'delivery_id' AND delivery.lease_token = o.value ->> 'token';

-- name: record_outcomes (postgres)
UPDATE delivery SET status = o.status, tries = tries + 1, due_ms = o.due_ms, leased_until_ms = 0, lease_token = NULL
FROM json_to_recordset(CAST(:outcomes AS JSON)) AS o (delivery_id TEXT, token TEXT, status TEXT, due_ms BIGINT)
WHERE delivery.id = o.delivery_id AND delivery.lease_token = o.token;

-- name: well_again
UPDATE webhook SET failing_since_ms = NULL, warned_ms = NULL
WHERE account_id = :account_id AND id = :id AND failing_since_ms IS NOT NULL;

-- name: fails
UPDATE webhook SET failing_since_ms = COALESCE(failing_since_ms, :now_ms)
WHERE account_id = :account_id AND id = :id RETURNING failing_since_ms, warned_ms, disabled_ms;

-- name: warn
UPDATE webhook SET warned_ms = :now_ms WHERE account_id = :account_id AND id = :id AND warned_ms IS NULL;

-- name: disable
UPDATE webhook SET disabled_ms = :now_ms, disabled_reason = :reason
WHERE account_id = :account_id AND id = :id AND disabled_ms IS NULL;

-- name: cancel_all
UPDATE delivery SET status = 'cancelled', leased_until_ms = 0, lease_token = NULL
WHERE account_id = :account_id AND webhook_id = :id AND status = 'pending';

-- name: owner_email
SELECT email FROM account WHERE id = :account_id;
