-- fragment: record
id, name, started_ms, duration_ms, bytes, sha256, result, message

-- name: state
SELECT (SELECT MAX(started_ms) FROM backup) AS tried_ms,
       (SELECT MAX(started_ms) FROM backup WHERE result <> 'failed') AS made_ms,
       (SELECT COUNT(*) FROM instance WHERE name = 'backup_requested') AS requested;

-- name: newest
SELECT {record} FROM backup ORDER BY started_ms DESC, id DESC LIMIT :most;

-- name: newest_finished
SELECT {record} FROM backup WHERE result IS NOT NULL ORDER BY started_ms DESC, id DESC LIMIT 1;

-- name: good
SELECT name, bytes AS size FROM backup WHERE result = 'ok';

-- name: begin
{insert backup: id, name, started_ms = :now_ms};

-- name: finish
UPDATE backup SET {assign duration_ms, bytes, sha256, result, message}
WHERE id = :id;

-- name: end_unfinished
UPDATE backup SET result = 'failed', message = :message WHERE result IS NULL;

-- name: drop_unfinished
DELETE FROM backup WHERE result IS NULL;

-- name: purge
DELETE FROM backup WHERE started_ms < :before_ms
  AND (result IS NULL
   OR result <> 'ok'
   OR started_ms < (SELECT MAX(started_ms) FROM backup WHERE result = 'ok'));

-- name: request
INSERT INTO instance (name, value) VALUES ('backup_requested', '1') ON CONFLICT (name) DO NOTHING;

-- name: take_request
DELETE FROM instance WHERE name = 'backup_requested';
