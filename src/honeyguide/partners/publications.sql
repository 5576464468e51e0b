-- name: insert
-- A new publication.
{insert publication: id, account_id, {fields}, logo_id, search_text, created_ms = :now_ms};

-- name: by_id
-- One publication.
SELECT {publication}
FROM publication WHERE account_id = :account_id AND id = :id AND deleted_ms IS NULL;

-- name: lock
-- Lock a publication.
SELECT id FROM publication WHERE account_id = :account_id AND id = :id AND deleted_ms IS NULL;

-- name: count
-- How many publications the account has.
SELECT COUNT(*) AS n FROM publication WHERE account_id = :account_id AND deleted_ms IS NULL;

-- name: list
-- Publications of the account, the newest first.
SELECT {publication}
FROM publication WHERE account_id = :account_id AND deleted_ms IS NULL
ORDER BY created_ms DESC, id DESC
LIMIT :most OFFSET :skip;

-- name: update
-- Change a publication.
UPDATE publication SET {assign {changed}, search_text}
WHERE account_id = :account_id AND id = :id;

-- name: is_closing
-- Is the account about to be closed?
SELECT 1 FROM account WHERE id = :account_id AND closes_ms IS NOT NULL;

-- name: set_enabled
-- Also what it is after a pause or a closing that is called off.
UPDATE publication
SET enabled_partner_program = :enabled, was_enabled = 0
WHERE account_id = :account_id AND id = :id;

-- name: delete
-- Delete a publication; its row stays, because programs refer to it.
UPDATE publication
SET deleted_ms = :now_ms, enabled_partner_program = 0
WHERE account_id = :account_id AND id = :id;

-- name: without_search_text
-- Publications whose text for the search is still to be made.
SELECT {publication} FROM publication WHERE search_text = '' LIMIT :most;

-- name: set_search_text
-- Not if a change has filled it in meanwhile.
UPDATE publication
SET search_text = :search_text
WHERE account_id = :account_id AND id = :id AND search_text = '';

-- name: program_of
-- The program of a publication.
SELECT id FROM program WHERE account_id = :account_id AND publication_id = :id AND deleted_ms IS NULL;

-- name: insert_logo
-- A logo, unless it is stored already.
{insert logo: id, account_id, content_type, data, created_ms = :now_ms}
ON CONFLICT (id) DO NOTHING;

-- name: logo
-- A logo, which everybody may see.
SELECT id, content_type, data FROM logo WHERE id = :id;

-- name: own_logo
-- A logo of the account.
SELECT id, content_type, data FROM logo WHERE id = :id AND account_id = :account_id;
