-- name: by_id
-- One campaign.
SELECT {campaign} FROM campaign WHERE account_id = :account_id AND id = :id;

-- name: lock
-- Lock a campaign.
SELECT id FROM campaign WHERE account_id = :account_id AND id = :id;

-- name: rename
-- Rename a campaign.
UPDATE campaign SET name = :name WHERE account_id = :account_id AND id = :id;

-- name: configure
-- Change the settings of a campaign.
UPDATE campaign SET {assign {settings}} WHERE account_id = :account_id AND id = :id;

-- name: tenant_of
-- The campaign of an account.
SELECT account_id, id AS campaign_id FROM campaign WHERE account_id = :account_id;

-- name: first_two
-- Of the installation: whether it has one newsletter or several.
SELECT account_id, id AS campaign_id FROM campaign LIMIT 2;
