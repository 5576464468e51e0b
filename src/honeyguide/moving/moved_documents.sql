-- fragment: document
id, account_id, kind, base_url, uuid, name, content, made_id, note, created_ms

-- name: insert
-- A document of another service, unless we have it.
{insert moved_document: id, account_id, kind, base_url, uuid, name, content, note, created_ms = :now_ms}
ON CONFLICT (account_id, kind, base_url, uuid) DO NOTHING;

-- name: set_made
-- What was made here from the document.
UPDATE moved_document SET made_id = :made_id, note = :note WHERE account_id = :account_id AND id = :id;

-- name: by_id
-- One document.
SELECT {document} FROM moved_document WHERE account_id = :account_id AND id = :id;

-- name: by_uuid
-- The document that the other service knows by this id.
SELECT {document} FROM moved_document
WHERE account_id = :account_id AND kind = :kind AND base_url = :base_url AND uuid = :uuid;

-- name: count
-- How many documents were moved.
SELECT COUNT(*) FROM moved_document WHERE account_id = :account_id;

-- name: list
-- Documents that were moved, the newest first.
SELECT {document} FROM moved_document
WHERE account_id = :account_id
ORDER BY id DESC
LIMIT :most OFFSET :skip;
