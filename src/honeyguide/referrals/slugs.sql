-- name: claim
-- The guard makes the row count the answer: free, freed by the same account, or held by this very target already.
INSERT INTO slug (slug, account_id, kind, target_id) VALUES (:slug, :account_id, :kind, :target_id)
ON CONFLICT (slug) DO UPDATE SET kind = excluded.kind, target_id = excluded.target_id
WHERE slug.account_id = excluded.account_id AND (slug.target_id IS NULL OR slug.target_id = excluded.target_id);

-- name: free_others
UPDATE slug SET target_id = NULL WHERE account_id = :account_id AND target_id = :target_id AND slug <> :slug;

-- name: free
UPDATE slug SET target_id = NULL WHERE account_id = :account_id AND target_id = :target_id;

-- name: find
-- By an address anybody may type: it tells whose it is.
SELECT slug, account_id, kind, target_id FROM slug WHERE slug = :slug AND target_id IS NOT NULL;
