-- works-with: 0020
-- locks: job_lease, for reads and writes, for a moment
-- When each background job last succeeded, in real time.
ALTER TABLE job_lease ADD COLUMN succeeded_ms INTEGER;
UPDATE job_lease SET succeeded_ms = started_ms + duration_ms WHERE result = 'ok';
