-- fragment: record
id, name, started_ms, duration_ms, bytes, sha256, result, message

-- name: state
-- When a backup was last tried, and when one last succeeded.
SELECT (SELECT MAX(started_ms) FROM backup) AS tried_ms,
       (SELECT MAX(started_ms) FROM backup WHERE result <> 'failed') AS made_ms,
       (SELECT COUNT(*) FROM instance WHERE name = 'backup_requested') AS requested;

-- name: newest
-- The newest backups.
SELECT {record} FROM backup ORDER BY started_ms DESC, id DESC LIMIT :most;

-- name: newest_finished
-- The newest backup that ended, well or badly.
SELECT {record} FROM backup WHERE result IS NOT NULL ORDER BY started_ms DESC, id DESC LIMIT 1;

-- name: good
-- Backups that can be restored.
SELECT name, bytes AS size FROM backup WHERE result = 'ok';

-- name: begin
-- A backup that begins.
{insert backup: id, name, started_ms = :now_ms};

-- name: finish
-- What came of a backup.
UPDATE backup SET {assign duration_ms, bytes, sha256, result, message}
WHERE id = :id;

-- name: end_unfinished
-- Backups that were interrupted have failed.
UPDATE backup SET result = 'failed', message = :message WHERE result IS NULL;

-- name: drop_unfinished
-- Delete records of backups that were interrupted.
DELETE FROM backup WHERE result IS NULL;

-- name: purge
-- Delete old records, but not that of the newest good backup.
DELETE FROM backup WHERE started_ms < :before_ms
  AND (result IS NULL
   OR result <> 'ok'
   OR started_ms < (SELECT MAX(started_ms) FROM backup WHERE result = 'ok'));

-- name: request
-- Ask the running service for a backup.
INSERT INTO instance (name, value) VALUES ('backup_requested', '1') ON CONFLICT (name) DO NOTHING;

-- name: take_request
-- Take the request, so that only one process makes the backup.
DELETE FROM instance WHERE name = 'backup_requested';
