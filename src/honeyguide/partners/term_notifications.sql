-- fragment: change
id, account_id, program_id, texts, fields, actor_kind, actor_id, starts_ms, is_telling

-- name: to_tell
-- Announcements that partners are still to be told of.
SELECT {change} FROM term_change WHERE is_told = 0 ORDER BY id LIMIT :most;

-- name: by_id
-- One announcement.
SELECT {change} FROM term_change WHERE account_id = :account_id AND id = :id;

-- name: name
-- The name and the logo of the publication.
SELECT b.name, b.logo_id FROM program AS p JOIN publication AS b ON b.id = p.publication_id
WHERE p.account_id = :account_id AND p.id = :program_id;

-- name: start_telling
-- From now on the announcement cannot be withdrawn.
UPDATE term_change SET is_telling = 1 WHERE account_id = :account_id AND id = :id AND is_told = 0;

-- name: set_told
-- Record that all partners were told.
UPDATE term_change SET is_told = 1 WHERE account_id = :account_id AND id = :id;

-- name: delete_done
-- Delete an announcement that is told and made.
DELETE FROM term_change WHERE account_id = :account_id AND id = :id AND is_told = 1 AND fields IS NULL;

-- name: partners
-- Also while the program is off. Whoever was removed was told of that.
SELECT j.id, j.account_id, a.email FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
WHERE j.program_id = :program_id AND j.owner_account_id = :account_id AND j.account_id <> :account_id
  AND j.left_ms IS NULL AND j.removed_ms IS NULL
  AND NOT EXISTS (SELECT 1
      FROM partner_block AS x
      WHERE x.account_id = :account_id AND x.partner_account_id = j.account_id)
  AND NOT EXISTS (SELECT 1 FROM notice AS n WHERE n.account_id = j.account_id AND n.once_key = :once_key)
ORDER BY j.account_id
LIMIT :batch;
