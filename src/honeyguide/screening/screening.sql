-- name: closes_loop
-- Follows the chain from the referrer to their own referrer, and so on: is one of them this person?
WITH RECURSIVE ancestor (person_key, referrer_id, depth) AS (
    SELECT person_key, referrer_id, 1 FROM subscriber WHERE id = :referrer_id AND campaign_id = :campaign_id
    UNION ALL
    SELECT s.person_key, s.referrer_id, a.depth + 1 FROM subscriber AS s
    JOIN ancestor AS a ON s.id = a.referrer_id
    WHERE a.depth < 20
)
SELECT COUNT(*) AS n FROM ancestor WHERE person_key {in :person_keys};

-- name: on_code
-- Signups with this code in the last hour, and from this IP network in the last day.
SELECT COALESCE(SUM(CASE WHEN received_ms > :hour_ago_ms THEN 1 ELSE 0 END), 0) AS last_hour,
       COALESCE(SUM(CASE WHEN network = CAST(:network AS TEXT) THEN 1 ELSE 0 END), 0) AS from_network
FROM subscriber
WHERE campaign_id = :campaign_id
  AND referrer_code = :code
  AND received_ms > :day_ago_ms
  AND received_ms <= :until_ms;
