-- name: claim
-- The row count is the answer: 1 if the slug is free, was given up by this account, or already belongs to
-- this target.
{insert slug: slug, account_id, kind, target_id}
ON CONFLICT (slug) DO UPDATE SET kind = excluded.kind, target_id = excluded.target_id
WHERE slug.account_id = excluded.account_id
  AND (slug.target_id IS NULL OR slug.target_id = excluded.target_id);

-- name: free_others
-- Free the earlier names of a page; they stay reserved for the account.
UPDATE slug SET target_id = NULL WHERE account_id = :account_id AND target_id = :target_id AND slug <> :slug;

-- name: free
-- Free all names of a page; they stay reserved for the account.
UPDATE slug SET target_id = NULL WHERE account_id = :account_id AND target_id = :target_id;

-- name: find
-- A public address, so the account comes from the row found.
SELECT slug, account_id, kind, target_id FROM slug WHERE slug = :slug AND target_id IS NOT NULL;
