-- Over all accounts; each row found has its account.

-- name: all_running
SELECT id FROM import WHERE status = 'running' ORDER BY created_ms LIMIT :most;

-- name: running
SELECT id, account_id, campaign_id, mapping FROM import WHERE id = :id AND status = 'running';

-- name: next_part
SELECT n, lines AS content FROM import_part WHERE account_id = :account_id AND import_id = :import_id ORDER BY n LIMIT 1;

-- name: insert_error
-- touches: adds import_error
{insert import_error: import_id, line, account_id, sentence, content} ON CONFLICT (import_id, line) DO NOTHING;

-- name: shorten_part
UPDATE import_part SET lines = :lines WHERE account_id = :account_id AND import_id = :import_id AND n = :n;

-- name: drop_part
DELETE FROM import_part WHERE account_id = :account_id AND import_id = :import_id AND n = :n;

-- name: advance
UPDATE import SET done = done + :done, added = added + :added, skipped = skipped + :skipped, failed = failed + :failed
WHERE account_id = :account_id AND id = :id;

-- name: finish
UPDATE import SET status = 'done', finished_ms = :now_ms WHERE account_id = :account_id AND id = :id;
