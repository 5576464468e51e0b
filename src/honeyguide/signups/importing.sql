-- fragment: import
id, account_id, campaign_id, file_name, header, mapping, status, total, done, added, skipped,
failed, dry, created_ms, finished_ms

-- While its file is being stored, an import has a total of 0.
-- name: insert
INSERT INTO import (id, account_id, campaign_id, file_name, header, mapping, total, created_ms)
VALUES (:id, :account_id, :campaign_id, :file_name, :header, :mapping, 0, :now_ms);

-- name: complete
UPDATE import SET total = :total WHERE account_id = :account_id AND id = :id;

-- name: insert_part
INSERT INTO import_part (import_id, n, account_id, lines) VALUES (:import_id, :n, :account_id, :lines);

-- name: insert_error
-- touches: adds import_error
INSERT INTO import_error (import_id, line, account_id, sentence, content)
VALUES (:import_id, :line, :account_id, :sentence, :content) ON CONFLICT (import_id, line) DO NOTHING;

-- name: by_id
SELECT {import}
FROM import WHERE account_id = :account_id AND id = :id AND total > 0;

-- name: of_account
SELECT {import}
FROM import WHERE account_id = :account_id AND total > 0 ORDER BY created_ms DESC, id DESC LIMIT 20;

-- name: running
SELECT {import}
FROM import WHERE id = :id AND status = 'running';

-- name: all_running
SELECT id FROM import WHERE status = 'running' ORDER BY created_ms LIMIT :most;

-- name: next_part
SELECT n, lines FROM import_part WHERE account_id = :account_id AND import_id = :import_id ORDER BY n LIMIT 1;

-- name: part_at
SELECT n, lines FROM import_part WHERE account_id = :account_id AND import_id = :import_id AND n = :n;

-- name: errors
SELECT line, sentence, content FROM import_error WHERE account_id = :account_id AND import_id = :import_id
ORDER BY line LIMIT :most;

-- name: set_mapping
UPDATE import SET mapping = :mapping, dry = NULL WHERE account_id = :account_id AND id = :id AND status = 'new';

-- name: set_dry
UPDATE import SET dry = :dry WHERE account_id = :account_id AND id = :id AND status = 'new';

-- name: start
UPDATE import SET status = 'running' WHERE account_id = :account_id AND id = :id AND status = 'new';

-- name: advance
UPDATE import SET done = done + :done, added = added + :added, skipped = skipped + :skipped, failed = failed + :failed
WHERE account_id = :account_id AND id = :id;

-- name: finish
UPDATE import SET status = 'done', finished_ms = :now_ms WHERE account_id = :account_id AND id = :id;

-- name: drop_part
DELETE FROM import_part WHERE account_id = :account_id AND import_id = :import_id AND n = :n;

-- name: delete
DELETE FROM import WHERE account_id = :account_id AND id = :id AND status <> 'running';

-- name: old
SELECT id FROM import WHERE created_ms <= :expired_ms AND status <> 'running' ORDER BY created_ms LIMIT :most;

-- name: purge
DELETE FROM import WHERE id {in :rows} AND status <> 'running';

-- name: taken
SELECT email_key FROM subscriber WHERE campaign_id = :campaign_id AND email_key {in :keys};
