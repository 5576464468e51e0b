-- works-with: 0014
-- locks: job_lease, for reads and writes, for a moment
-- When each background job last ran, how long it took and what came of it, in real time. `token` is the lease of whoever runs it.
ALTER TABLE job_lease ADD COLUMN token TEXT;
ALTER TABLE job_lease ADD COLUMN every_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_lease ADD COLUMN started_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_lease ADD COLUMN duration_ms INTEGER;
ALTER TABLE job_lease ADD COLUMN result TEXT;
