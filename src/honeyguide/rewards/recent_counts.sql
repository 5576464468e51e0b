-- Each scans one index, newest or highest first, and stops after :most rows.

-- name: earned
-- How many rewards with a state were earned in a range, up to a limit.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM won_reward
    WHERE campaign_id = :campaign_id AND status = :status AND earned_ms >= :since_ms
      AND earned_ms < :until_ms
    ORDER BY earned_ms DESC, id DESC LIMIT :most
) AS w;

-- name: without_code
-- Nobody waits for the code of an erased subscriber, whose reward keeps its status.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM won_reward AS r
    JOIN subscriber AS s ON s.id = r.subscriber_id AND s.erased_ms IS NULL
    WHERE r.campaign_id = :campaign_id AND r.status = 'out_of_stock' LIMIT :most
) AS w;
