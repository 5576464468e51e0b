-- name: events
-- Events about a subscriber, for a copy of their data.
SELECT e.id, e.type, e.created_ms, e.body,
       (SELECT COUNT(*) FROM delivery AS d WHERE d.event_id = e.id) AS deliveries
FROM event AS e
WHERE e.account_id = :account_id AND (e.subscriber_id = :subscriber_id OR e.referrer_id = :subscriber_id)
ORDER BY e.created_ms DESC, e.id DESC
LIMIT :most;

-- name: synced
-- What email platforms got about a subscriber.
SELECT i.platform, t.remote_id, t.synced_ms, t.written
FROM integration_subscriber AS t
JOIN integration AS i ON i.id = t.integration_id
WHERE t.account_id = :account_id AND t.subscriber_id = :subscriber_id;

-- name: found
-- What was found about a subscriber on email platforms.
SELECT i.platform, v.code, v.link, v.referrals, v.reward, v.coupon
FROM adoption_value AS v
JOIN integration AS i ON i.id = v.integration_id
WHERE v.account_id = :account_id AND v.subscriber_id = :subscriber_id;
