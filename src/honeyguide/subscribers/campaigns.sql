-- name: by_id
SELECT {campaign} FROM campaign WHERE account_id = :account_id AND id = :id;

-- name: lock
SELECT id FROM campaign WHERE account_id = :account_id AND id = :id;

-- name: rename
UPDATE campaign SET name = :name WHERE account_id = :account_id AND id = :id;

-- name: configure
UPDATE campaign SET {assign {settings}} WHERE account_id = :account_id AND id = :id;

-- name: tenant_of
SELECT account_id, id AS campaign_id FROM campaign WHERE account_id = :account_id;

-- name: first_two
-- Of the installation: whether it has one newsletter or several.
SELECT account_id, id AS campaign_id FROM campaign LIMIT 2;
