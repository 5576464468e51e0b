-- name: skipped
-- Items of a job that are tried again later.
SELECT item FROM job_failure WHERE job = :job AND retry_ms > :now_ms;

-- name: all
-- All items that fail, the latest first.
SELECT job, item, failures, error, failed_ms, retry_ms FROM job_failure
ORDER BY job, failed_ms DESC, item
LIMIT :most;

-- name: failures
-- How often an item failed.
SELECT failures FROM job_failure WHERE job = :job AND item = :item;

-- name: record
-- An item failed once more.
{insert job_failure: job, item, failures, error, failed_ms = :now_ms, retry_ms}
ON CONFLICT (job, item)
DO UPDATE SET failures = excluded.failures, error = excluded.error, failed_ms = excluded.failed_ms,
    retry_ms = excluded.retry_ms;

-- name: forget
-- Forget failures of items that were tried again and are done.
DELETE FROM job_failure WHERE job = :job AND retry_ms <= :tried_ms;

-- name: forget_old
-- Forget failures of items that are gone.
DELETE FROM job_failure WHERE retry_ms <= :before_ms;

-- name: any_old
-- Are there such failures?
SELECT 1 FROM job_failure WHERE retry_ms <= :before_ms LIMIT 1;
