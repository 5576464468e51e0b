-- name: events
SELECT e.id, e.type, e.created_ms, e.body, (SELECT COUNT(*) FROM delivery AS d WHERE d.event_id = e.id) AS deliveries
FROM event AS e WHERE e.account_id = :account_id AND (e.subscriber_id = :subscriber_id OR e.referrer_id = :subscriber_id)
ORDER BY e.created_ms DESC, e.id DESC LIMIT :most;
