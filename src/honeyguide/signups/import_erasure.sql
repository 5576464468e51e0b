-- name: lock
-- Lock the imports of the account.
SELECT id FROM import WHERE account_id = :account_id ORDER BY id;

-- name: parts
-- Parts of imported files in which the subscriber may be.
SELECT p.import_id, i.mapping, p.n, p.lines FROM import AS i JOIN import_part AS p ON p.import_id = i.id
WHERE i.account_id = :account_id AND (:status = '' OR i.status = :status)
  AND (:needle = '' OR lower(p.lines) <> replace(lower(p.lines), :needle, ''));

-- name: set_part
-- Store a part of a file without the subscriber.
UPDATE import_part SET lines = :lines WHERE account_id = :account_id AND import_id = :import_id AND n = :n;

-- name: shorten
-- Of an import that is done, the total is how many lines it had.
UPDATE import
SET total = total - :removed, done = CASE WHEN done > total - :removed THEN total - :removed ELSE done END
WHERE account_id = :account_id AND id = :id AND status <> 'done';

-- name: refused
-- Refused lines in which the subscriber may be.
SELECT e.import_id, i.mapping, e.line, e.content FROM import AS i JOIN import_error AS e ON e.import_id = i.id
WHERE i.account_id = :account_id
  AND (:needle = '' OR lower(e.content) <> replace(lower(e.content), :needle, ''));

-- name: set_refused
-- Store a refused line without the subscriber.
UPDATE import_error
SET content = :content
WHERE account_id = :account_id AND import_id = :import_id AND line = :line;

-- name: drop_own_ids
-- Delete the ids by which another tool knew the subscriber.
DELETE FROM import_own_id WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: drop_refused
-- Delete a refused line.
DELETE FROM import_error WHERE account_id = :account_id AND import_id = :import_id AND line = :line;
