-- name: earned
-- How many rewards of each status were earned in a range, up to a limit. Scans one index, newest first.
SELECT t.value AS status, (
    SELECT COUNT(*) FROM (
        SELECT 1 AS one FROM won_reward
        WHERE campaign_id = :campaign_id AND status = t.value AND earned_ms >= :since_ms
          AND earned_ms < :until_ms
        ORDER BY earned_ms DESC, id DESC LIMIT :most
    ) AS w
) AS n FROM {list :statuses AS t};
