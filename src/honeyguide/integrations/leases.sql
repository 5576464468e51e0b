-- name: due
-- Active integrations that nobody serves and that have something to do. There are few integrations; each
-- question is one row by an index. A first sync whose worker died after the last write only has to be
-- finished. Nothing is written before it is known what becomes of another tool's values.
SELECT i.id FROM integration AS i
WHERE i.status = 'active' AND i.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND i.leased_until_ms <= :today_ms AND i.next_call_ms <= :today_ms AND (
    (i.adoption = '' AND (
        i.pass IS NOT NULL OR (i.is_reading = 0 AND i.first_sync_ms IS NULL)
        OR (SELECT 1
            FROM integration_subscriber AS t
            WHERE t.integration_id = i.id AND t.due_ms <= :now_ms
            LIMIT 1) = 1
    ))
    OR CASE WHEN i.is_reading = 1 THEN i.next_page_ms <= :now_ms
        ELSE i.next_full_read_ms <= :now_ms OR i.next_read_ms BETWEEN 1 AND :now_ms END
    OR (SELECT 1 FROM subscriber_change AS c WHERE c.campaign_id = i.campaign_id LIMIT 1) = 1
    OR (SELECT 1
        FROM integration_event AS e
        WHERE e.integration_id = i.id AND e.due_ms <= :now_ms
        LIMIT 1) = 1
) ORDER BY i.next_call_ms, i.id;

-- name: claim
-- Lease an integration that nobody else serves.
UPDATE integration SET lease_token = :token, leased_until_ms = :until_ms
WHERE id = :id AND status = 'active' AND leased_until_ms <= :today_ms AND next_call_ms <= :today_ms;

-- name: renew
-- No row changes if it was paused, disconnected or taken over.
UPDATE integration
SET leased_until_ms = :until_ms
WHERE id = :id AND lease_token = :token AND status = 'active'
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL);

-- name: release
-- Give the lease back.
UPDATE integration SET lease_token = NULL, leased_until_ms = 0 WHERE id = :id AND lease_token = :token;

-- name: lock
-- Lock the integration if the lease is still ours.
SELECT id FROM integration WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: wait
-- Nothing before `next_call_ms`.
UPDATE integration
SET failures = failures + 1, next_call_ms = :next_call_ms, problem = :problem, problem_ms = :today_ms
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: stop
-- Stop the integration, which needs the operator.
UPDATE integration SET status = 'failed', problem = :problem, problem_ms = :today_ms
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token AND status = 'active';
