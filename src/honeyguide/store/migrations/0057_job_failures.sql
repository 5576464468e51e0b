-- works-with: 0020
-- locks: job_lease, for reads and writes, for a moment
-- When a process last looked whether a job has work, in real time, as all times here.
ALTER TABLE job_lease ADD COLUMN looked_ms INTEGER NOT NULL DEFAULT 0;

-- What a job skips because it failed, and when it is tried again. `item` is an ID or a hash, `error` the type of the error.
CREATE TABLE job_failure (
    job TEXT NOT NULL,
    item TEXT NOT NULL,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_ms INTEGER NOT NULL,
    retry_ms INTEGER NOT NULL,
    PRIMARY KEY (job, item)
) STRICT;

-- Background work that failed many times in a row, and when it last did. A row that is not renewed is of a process that ended.
CREATE TABLE failing_loop (
    name TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_ms INTEGER NOT NULL
) STRICT;
