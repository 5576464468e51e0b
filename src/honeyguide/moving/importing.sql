-- While its file is being stored, an import has a total of 0.
-- name: insert
{insert import:
    id, account_id, campaign_id, file_name, header, mapping, source, dates, total = 0, created_ms = :now_ms
};

-- name: complete
-- The whole file is stored.
UPDATE import SET total = :total WHERE account_id = :account_id AND id = :id;

-- name: insert_part
-- A part of the file.
{insert import_part: import_id, n, account_id, lines};

-- name: by_id
-- One import whose file is stored.
SELECT {columns}
FROM import WHERE account_id = :account_id AND id = :id AND total > 0;

-- name: of_account
-- Imports of the account, the newest first.
SELECT {columns}
FROM import WHERE account_id = :account_id AND total > 0
ORDER BY created_ms DESC, id DESC
LIMIT 20;

-- name: part_at
-- A part of the file.
SELECT n, lines FROM import_part
WHERE account_id = :account_id AND import_id = :import_id AND n = :n;

-- name: errors
-- Lines that were refused, and why.
SELECT line, sentence, content FROM import_error WHERE account_id = :account_id AND import_id = :import_id
ORDER BY line
LIMIT :most;

-- name: set_mapping
-- What the columns of the file mean.
UPDATE import SET mapping = :mapping, gives_rewards = :gives_rewards, date_choice = :date_choice, dry = NULL
WHERE account_id = :account_id AND id = :id AND status = 'new';

-- name: set_source
-- The tool that the file is from.
UPDATE import
SET source = :source, mapping = :mapping, dates = :dates, dry = NULL
WHERE account_id = :account_id AND id = :id AND status = 'new';

-- name: set_dry
-- What the import would do.
UPDATE import SET dry = :dry WHERE account_id = :account_id AND id = :id AND status = 'new';

-- name: start
-- Start an import.
UPDATE import SET status = 'running' WHERE account_id = :account_id AND id = :id AND status = 'new';

-- name: delete
-- Delete an import that is not running.
DELETE FROM import WHERE account_id = :account_id AND id = :id AND status <> 'running';

-- name: old
-- Imports that are old enough to be deleted.
SELECT id FROM import WHERE created_ms <= :expired_ms AND status <> 'running' ORDER BY created_ms LIMIT :most;

-- name: purge
-- Delete these imports.
DELETE FROM import WHERE id {in :rows} AND status <> 'running';

-- name: findings
-- What is to be said about lines that were taken.
SELECT line, kind, detail FROM import_finding WHERE account_id = :account_id AND import_id = :import_id
ORDER BY line, kind
LIMIT :most;

-- name: count_findings
-- How many lines have which finding.
SELECT kind, COUNT(*) AS number FROM import_finding
WHERE account_id = :account_id AND import_id = :import_id
GROUP BY kind;
