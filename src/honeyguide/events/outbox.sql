-- name: listeners
SELECT id FROM webhook WHERE account_id = :account_id AND disabled_ms IS NULL
  AND CASE CAST(:type AS TEXT) WHEN 'new_referral' THEN new_referral WHEN 'new_partner_referral' THEN new_partner_referral
      WHEN 'reward_unlocked' THEN reward_unlocked WHEN 'reward_redeemed' THEN reward_redeemed ELSE 0 END = 1;

-- name: insert_event
INSERT INTO event (id, account_id, type, body, subscriber_id, referrer_id, created_ms)
VALUES (:id, :account_id, :type, :body, :subscriber_id, :referrer_id, :now_ms);

-- name: insert_delivery
INSERT INTO delivery (id, account_id, webhook_id, event_id, due_ms, created_ms)
VALUES (:id, :account_id, :webhook_id, :event_id, :now_ms, :now_ms);

-- name: cancel_about
UPDATE delivery SET status = 'cancelled', leased_until_ms = 0, lease_token = NULL
WHERE account_id = :account_id AND status = 'pending'
  AND event_id IN (SELECT id FROM event WHERE subscriber_id = :subscriber_id OR referrer_id = :subscriber_id);

-- name: drop_answers_about
UPDATE attempt SET response = NULL WHERE account_id = :account_id AND delivery_id IN (
    SELECT d.id FROM delivery AS d JOIN event AS e ON e.id = d.event_id
    WHERE e.subscriber_id = :subscriber_id OR e.referrer_id = :subscriber_id
);

-- name: drop_bodies_about
UPDATE event SET body = NULL WHERE account_id = :account_id
  AND (subscriber_id = :subscriber_id OR referrer_id = :subscriber_id);

-- name: purge
DELETE FROM event WHERE id IN (
    SELECT e.id FROM event AS e WHERE e.created_ms < :before_ms
      AND NOT EXISTS (SELECT 1 FROM delivery AS d WHERE d.event_id = e.id AND d.status = 'pending')
    ORDER BY e.created_ms LIMIT :batch
);
