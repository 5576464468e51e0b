-- name: begin_read
-- Begin to read the platform's list.
UPDATE integration SET is_reading = 1, read_since_ms = :since_ms, read_token = NULL, read_began_ms = :now_ms,
    read_tries = 0, next_page_ms = 0
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: move_read
-- How far the reading is.
UPDATE integration
SET read_token = :read_token, next_call_ms = :next_call_ms, failures = 0, problem = NULL, problem_ms = NULL,
    read_tries = 0, read_problem = NULL
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: delay_read
-- Read on later, because the platform failed.
UPDATE integration SET read_tries = read_tries + 1, read_problem = :problem, next_page_ms = :next_page_ms
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: give_up_read
-- What was read stays; who is missing is not known.
UPDATE integration
SET is_reading = 0, read_token = NULL, read_problem = :problem, next_read_ms = :next_read_ms,
    next_full_read_ms = CASE WHEN read_since_ms IS NULL THEN :next_full_read_ms ELSE next_full_read_ms END
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: end_read
-- After a whole pass over their list comes one over ours, unless one is under way.
UPDATE integration
SET is_reading = 0, read_token = NULL, next_read_ms = :next_read_ms, next_call_ms = :next_call_ms,
    next_full_read_ms = CASE WHEN read_since_ms IS NULL THEN :next_full_read_ms ELSE next_full_read_ms END,
    list_read_ms = CASE WHEN :is_complete = 1 THEN read_began_ms ELSE list_read_ms END,
    missing = CASE WHEN read_since_ms IS NULL THEN :missing ELSE missing END,
    missing_ms = CASE WHEN read_since_ms IS NULL THEN read_began_ms ELSE missing_ms END,
    pass = CASE WHEN read_since_ms IS NULL
        AND first_sync_ms IS NOT NULL
        AND pass IS NULL THEN 'all' ELSE pass END,
    pass_ms = CASE WHEN read_since_ms IS NULL
        AND first_sync_ms IS NOT NULL
        AND pass IS NULL THEN :top_ms ELSE pass_ms END,
    pass_id = CASE WHEN read_since_ms IS NULL
        AND first_sync_ms IS NOT NULL
        AND pass IS NULL THEN '' ELSE pass_id END,
    failures = 0, problem = NULL, problem_ms = NULL, read_tries = 0, read_problem = NULL
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token;

-- name: mark_seen
-- These contacts are on the platform's list.
UPDATE integration_subscriber SET seen_ms = :began_ms
WHERE account_id = :account_id AND integration_id = :integration_id AND remote_id {in :remote_ids};

-- name: count_missing
-- Those whom a reading of the whole list showed, and those whom it did not, though they were written before
-- it began. Who still has to confirm is not looked up there.
SELECT (
    SELECT COUNT(*) FROM integration_subscriber AS t
    WHERE t.account_id = :account_id
      AND t.integration_id = :integration_id
      AND t.remote_id IS NOT NULL
      AND t.seen_ms >= :began_ms
) AS seen, (
    SELECT COUNT(*) FROM integration_subscriber AS t JOIN subscriber AS s ON s.id = t.subscriber_id
    WHERE t.account_id = :account_id AND t.integration_id = :integration_id AND t.remote_id IS NOT NULL
      AND COALESCE(t.seen_ms, 0) < :began_ms AND t.synced_ms < :began_ms AND t.failed_ms IS NULL
      AND s.status <> 'unsubscribed' AND s.erased_ms IS NULL AND s.must_confirm = 0
) AS missing;

-- name: believe_missing
-- Accept that many contacts are gone, and write all again.
UPDATE integration SET list_read_ms = missing_ms, missing = 0, pass = 'all', pass_ms = :top_ms, pass_id = ''
WHERE account_id = :account_id AND campaign_id = :campaign_id AND missing > 0;
