-- name: insert
-- An announcement of changed terms.
{insert term_change:
    id, account_id, program_id, texts, fields, actor_kind, actor_id, starts_ms, created_ms = :now_ms
};

-- name: untold
-- What began at once and nobody was told of yet.
SELECT id, account_id, program_id, texts, fields, actor_kind, actor_id, starts_ms, is_telling
FROM term_change
WHERE account_id = :account_id AND program_id = :program_id AND fields IS NULL AND is_telling = 0
ORDER BY id;

-- name: set_texts
-- What the announcement says.
UPDATE term_change SET texts = :texts WHERE account_id = :account_id AND id = :id;

-- name: delete_untold
-- Delete an announcement that nobody was told of.
DELETE FROM term_change WHERE account_id = :account_id AND id = :id AND is_telling = 0;
