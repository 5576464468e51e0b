-- name: claim
-- One process at a time does a job: whoever moves its lease has it. The guard makes the row count the answer.
INSERT INTO job_lease (name, leased_until_ms) VALUES (:name, :until_ms)
ON CONFLICT (name) DO UPDATE SET leased_until_ms = excluded.leased_until_ms WHERE job_lease.leased_until_ms <= :now_ms;

-- name: release
UPDATE job_lease SET leased_until_ms = 0 WHERE name = :name AND leased_until_ms = :until_ms;
