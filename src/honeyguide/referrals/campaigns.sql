-- name: by_id
SELECT id, account_id, name, slug, destination_url, screening, hold_days, needs_confirmation, words, created_ms
FROM campaign WHERE account_id = :account_id AND id = :id;

-- name: lock
SELECT id FROM campaign WHERE account_id = :account_id AND id = :id;

-- name: rename
UPDATE campaign SET name = :name WHERE account_id = :account_id AND id = :id;

-- name: configure
UPDATE campaign SET name = :name, destination_url = :destination_url, slug = :slug, screening = :screening,
    hold_days = :hold_days, needs_confirmation = :needs_confirmation, words = :words
WHERE account_id = :account_id AND id = :id;

-- name: tenant_of
SELECT account_id, id AS campaign_id FROM campaign WHERE account_id = :account_id;
