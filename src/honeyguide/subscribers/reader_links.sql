-- name: end
UPDATE subscriber SET link_version = link_version + 1 WHERE id = :id AND campaign_id = :campaign_id;
