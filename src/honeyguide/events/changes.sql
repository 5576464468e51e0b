-- name: record
-- Tell the campaign's integration that a subscriber changed.
INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id)
SELECT account_id, campaign_id, :subscriber_id FROM integration
WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: take
-- Take the oldest changes out of the feed.
DELETE FROM subscriber_change WHERE seq IN (
    SELECT seq FROM subscriber_change
    WHERE account_id = :account_id AND campaign_id = :campaign_id
    ORDER BY seq
    LIMIT :most
) RETURNING subscriber_id;

-- name: forget
-- Nothing if a platform was connected again: that one reads the feed.
DELETE FROM subscriber_change WHERE seq IN (
    SELECT seq FROM subscriber_change
    WHERE account_id = :account_id AND campaign_id = :campaign_id
    ORDER BY seq
    LIMIT :most
) AND NOT EXISTS (SELECT 1 FROM integration WHERE campaign_id = :campaign_id);
