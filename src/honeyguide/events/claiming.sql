-- name: due_webhooks
-- Steps from webhook to webhook through the index of pending deliveries, so that a long backlog costs no more
-- than a short one.
WITH RECURSIVE waiting (webhook_id) AS (
    SELECT MIN(webhook_id) FROM delivery WHERE status = 'pending'
    UNION ALL
    SELECT (SELECT MIN(d.webhook_id) FROM delivery AS d
        WHERE d.status = 'pending' AND d.webhook_id > waiting.webhook_id)
    FROM waiting WHERE waiting.webhook_id IS NOT NULL
)
SELECT w.id, w.account_id, CASE WHEN w.failing_since_ms IS NULL THEN 0 ELSE 1 END AS is_failing
FROM waiting JOIN webhook AS w ON w.id = waiting.webhook_id
WHERE w.disabled_ms IS NULL AND w.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL) AND (
    -- One row by the index. Asked with EXISTS, PostgreSQL may join, and read everybody's backlog for it.
    SELECT 1 FROM delivery AS d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.due_ms <= :now_ms
      AND d.leased_until_ms <= :today_ms ORDER BY d.due_ms LIMIT 1
) = 1 ORDER BY w.id;

-- name: claim (sqlite)
-- Also returns what to send. An empty body can never be sent.
UPDATE delivery SET leased_until_ms = :until_ms, lease_token = :token WHERE id IN (
    SELECT d.id FROM {list :webhooks AS w} CROSS JOIN delivery AS d WHERE d.id IN (
        SELECT id FROM delivery WHERE webhook_id = w.value AND status = 'pending' AND due_ms <= :now_ms
          AND leased_until_ms <= :today_ms ORDER BY due_ms LIMIT :most
    )
) RETURNING due_ms, id, lease_token AS token, tries, event_id,
    COALESCE(
        (SELECT e.body
            FROM event AS e
            JOIN webhook AS w ON w.disabled_ms IS NULL
            WHERE e.id = event_id AND w.id = webhook_id),
        ''
    ) AS body, webhook_id, account_id, (SELECT w.url FROM webhook AS w WHERE w.id = webhook_id) AS url,
    (SELECT w.secret FROM webhook AS w WHERE w.id = webhook_id) AS secret,
    (SELECT w.old_secrets FROM webhook AS w WHERE w.id = webhook_id) AS old_secrets,
    (SELECT w.sparkloop_token FROM webhook AS w WHERE w.id = webhook_id) AS sparkloop_token;

-- name: claim (postgres)
-- ARRAY() runs the subselect once. As a plain IN it was run again for every pending delivery, when the table
-- had been analyzed while nothing was pending.
WITH claimed AS (
    UPDATE delivery SET leased_until_ms = :until_ms, lease_token = :token WHERE id = ANY (ARRAY (
        SELECT due.id FROM {list :webhooks AS w} CROSS JOIN LATERAL (
            SELECT d.id FROM delivery AS d
            WHERE d.webhook_id = w.value AND d.status = 'pending' AND d.due_ms <= :now_ms
              AND d.leased_until_ms <= :today_ms ORDER BY d.due_ms LIMIT :most FOR UPDATE SKIP LOCKED
        ) AS due
    )) RETURNING due_ms, id, lease_token, tries, event_id, webhook_id
)
SELECT c.due_ms, c.id, c.lease_token AS token, c.tries, c.event_id,
       COALESCE(CASE WHEN w.disabled_ms IS NULL THEN e.body END, '') AS body,
    w.id AS webhook_id, w.account_id, w.url, w.secret, w.old_secrets, w.sparkloop_token
FROM claimed AS c JOIN event AS e ON e.id = c.event_id JOIN webhook AS w ON w.id = c.webhook_id;

-- name: still_claimed
-- The delivery is found by itself first. Next to the status, PostgreSQL may read the index of all pending
-- ones instead, if it was last analyzed when none was.
SELECT d.due_ms, d.id, d.lease_token AS token, d.tries, e.id AS event_id, e.body, w.id AS webhook_id,
       w.account_id, w.url, w.secret,
    w.old_secrets, w.sparkloop_token
FROM (SELECT due_ms, id, lease_token, tries, status, event_id, webhook_id
    FROM delivery
    WHERE id = :id
    LIMIT 1) AS d
JOIN event AS e ON e.id = d.event_id JOIN webhook AS w ON w.id = d.webhook_id
WHERE d.lease_token = :token AND d.status = 'pending' AND e.body IS NOT NULL AND w.disabled_ms IS NULL;

-- name: cancel_unsendable
-- Cancel deliveries that can no longer be sent.
UPDATE delivery SET status = 'cancelled', leased_until_ms = 0, lease_token = NULL
WHERE id {in :ids} AND lease_token = :token;

-- name: give_back
-- Give back a delivery that was claimed but not tried.
UPDATE delivery SET leased_until_ms = 0, lease_token = NULL WHERE id = :id AND lease_token = :token;
