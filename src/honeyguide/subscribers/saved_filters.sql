-- name: all
-- Saved filters of the campaign.
SELECT id, name, query, saved_ms FROM saved_filter
WHERE account_id = :account_id AND campaign_id = :campaign_id
ORDER BY name;

-- name: save
-- Save a filter, in place of one with the same name.
{insert saved_filter: id, account_id, campaign_id, name, query, saved_ms = :now_ms}
ON CONFLICT (campaign_id, name) DO UPDATE SET query = excluded.query, saved_ms = excluded.saved_ms;

-- name: delete
-- Delete saved filters.
DELETE FROM saved_filter WHERE account_id = :account_id AND campaign_id = :campaign_id AND id {in :ids};
