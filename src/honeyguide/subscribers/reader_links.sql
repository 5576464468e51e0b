-- name: end
-- End the personal links that a subscriber was sent.
UPDATE subscriber SET link_version = link_version + 1 WHERE id = :id AND campaign_id = :campaign_id;
