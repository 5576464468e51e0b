-- fragment: run
name, every_ms, started_ms, duration_ms, result, leased_until_ms, succeeded_ms, looked_ms

-- name: list
-- Jobs that ever ran.
SELECT {run} FROM job_lease WHERE started_ms > 0 ORDER BY name;

-- name: list_looked
-- Jobs that ever ran or looked for work.
SELECT {run} FROM job_lease WHERE started_ms > 0 OR looked_ms > 0 ORDER BY name;

-- name: looked
-- Record when jobs last looked for work.
INSERT INTO job_lease (name, every_ms, leased_until_ms, looked_ms)
SELECT l.name, l.every_ms, 0, l.looked_ms
FROM {rows :looked AS l (name TEXT, every_ms BIGINT, looked_ms BIGINT)}
WHERE true
ON CONFLICT (name)
DO UPDATE SET looked_ms = excluded.looked_ms
WHERE job_lease.looked_ms < excluded.looked_ms;

-- name: by_name
-- One job.
SELECT {run} FROM job_lease WHERE name = :name;

-- name: claim
-- One process at a time runs a job, and no sooner than its interval allows: the row count is the answer.
{insert job_lease: name, every_ms, leased_until_ms = :until_ms, token, started_ms = :now_ms}
ON CONFLICT (name) DO UPDATE SET every_ms = excluded.every_ms, leased_until_ms = excluded.leased_until_ms,
    token = excluded.token, started_ms = excluded.started_ms, duration_ms = NULL, result = NULL
WHERE job_lease.leased_until_ms <= :now_ms AND job_lease.started_ms <= :not_after_ms;

-- name: renew
-- Prolong the lease of a running job.
UPDATE job_lease SET leased_until_ms = :until_ms WHERE name = :name AND token = :token;

-- name: finish
-- What came of a run.
UPDATE job_lease SET leased_until_ms = 0, token = NULL, duration_ms = :duration_ms, result = :result,
    succeeded_ms = CASE WHEN :succeeded = 1 THEN started_ms + :duration_ms ELSE succeeded_ms END
WHERE name = :name AND token = :token;
