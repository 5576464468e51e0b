-- name: lock
SELECT id FROM import WHERE account_id = :account_id ORDER BY id;

-- name: parts
SELECT p.import_id, i.mapping, p.n, p.lines FROM import AS i JOIN import_part AS p ON p.import_id = i.id
WHERE i.account_id = :account_id AND (:status = '' OR i.status = :status)
  AND (:needle = '' OR lower(p.lines) <> replace(lower(p.lines), :needle, ''));

-- name: set_part
UPDATE import_part SET lines = :lines WHERE account_id = :account_id AND import_id = :import_id AND n = :n;

-- name: shorten
-- Of an import that is done, the total is how many lines it had.
UPDATE import
SET total = total - :removed, done = CASE WHEN done > total - :removed THEN total - :removed ELSE done END
WHERE account_id = :account_id AND id = :id AND status <> 'done';

-- name: refused
SELECT e.import_id, i.mapping, e.line, e.content FROM import AS i JOIN import_error AS e ON e.import_id = i.id
WHERE i.account_id = :account_id
  AND (:needle = '' OR lower(e.content) <> replace(lower(e.content), :needle, ''));

-- name: set_refused
UPDATE import_error
SET content = :content
WHERE account_id = :account_id AND import_id = :import_id AND line = :line;

-- name: drop_own_ids
DELETE FROM import_own_id WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: drop_refused
DELETE FROM import_error WHERE account_id = :account_id AND import_id = :import_id AND line = :line;
