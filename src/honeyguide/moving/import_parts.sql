-- Over all accounts; each row found has its account.

-- name: all_running
-- Imports that are running.
SELECT id FROM import
WHERE status = 'running' AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
ORDER BY created_ms
LIMIT :most;

-- name: running
-- A running import, and how far it is.
SELECT {columns} FROM import
WHERE id = :id AND status = 'running';

-- name: next_part
-- The next part of an import.
SELECT n, lines FROM import_part
WHERE account_id = :account_id AND import_id = :import_id AND n >= :n
ORDER BY n
LIMIT 1;

-- name: insert_errors
-- Lines that were refused, and why.
INSERT INTO import_error (import_id, line, account_id, sentence, content)
SELECT :import_id, r.line, :account_id, r.sentence, r.content
FROM {rows :rows AS r (line BIGINT, sentence TEXT, content TEXT)} WHERE true
ON CONFLICT (import_id, line) DO NOTHING;

-- name: insert_findings
-- What is to be said about lines that were taken.
INSERT INTO import_finding (import_id, line, kind, account_id, detail)
SELECT :import_id, r.line, r.kind, :account_id, r.detail
FROM {rows :rows AS r (line BIGINT, kind TEXT, detail BIGINT)}
WHERE true
ON CONFLICT (import_id, line, kind) DO NOTHING;

-- name: advance
-- A part is done.
UPDATE import
SET done = done + :done, added = added + :added, skipped = skipped + :skipped, failed = failed + :failed,
    next_part = :next_part, done_lines = :done_lines
WHERE account_id = :account_id AND id = :id;

-- name: next_stage
-- Go over the file again, for the next stage.
UPDATE import
SET stage = :stage, next_part = 0, done_lines = '[]', done = 0
WHERE account_id = :account_id AND id = :id;

-- name: finish
-- Lines that were erased meanwhile may be among those done.
UPDATE import
SET status = 'done', done = total, finished_ms = :now_ms
WHERE account_id = :account_id AND id = :id;
