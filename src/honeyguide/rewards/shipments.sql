-- fragment: shipment
w.id, w.reward_id, w.subscriber_id, r.name, w.variant, w.shipping, w.redeemed_ms AS claimed_ms, w.sent_ms,
w.sent_by, w.tracking_note,
w.announce_ms, w.delivered_ms, w.address_changed_ms, s.email, s.name AS subscriber_name

-- fragment: joined
JOIN reward AS r ON r.id = w.reward_id LEFT JOIN subscriber AS s ON s.id = w.subscriber_id

-- name: create
-- The address and the variant of a reward to send.
UPDATE won_reward SET shipping = :address, variant = :variant WHERE account_id = :account_id AND id = :id;

-- name: by_id
-- One shipment.
SELECT {shipment}
FROM won_reward AS w {joined}
WHERE w.account_id = :account_id
  AND w.campaign_id = :campaign_id
  AND w.id = :id
  AND (w.shipping IS NOT NULL OR w.sent_ms IS NOT NULL);

-- name: by_ids
-- These shipments.
SELECT {shipment}
FROM {list :ids AS i} CROSS JOIN won_reward AS w {joined}
WHERE w.id = i.value AND w.account_id = :account_id AND w.campaign_id = :campaign_id
  AND (w.shipping IS NOT NULL OR w.sent_ms IS NOT NULL);

-- name: to_send
-- The inner query cuts out the page, so that only its rows are joined. It asks for the campaign alone,
-- because the index has no account.
SELECT {shipment}
FROM (
    SELECT i.id FROM won_reward AS i WHERE i.campaign_id = :campaign_id AND i.shipping IS NOT NULL
      AND i.sent_ms IS NULL AND (i.redeemed_ms, i.id) > (:after_ms, :after_id)
    ORDER BY i.redeemed_ms, i.id LIMIT :most OFFSET :skip
) AS p JOIN won_reward AS w ON w.id = p.id {joined}
ORDER BY w.redeemed_ms, w.id;

-- name: to_send_of_reward
-- The account is checked outside, where the row is read anyway.
SELECT {shipment}
FROM (
    SELECT i.id FROM won_reward AS i WHERE i.reward_id = :reward_id AND i.shipping IS NOT NULL
      AND i.sent_ms IS NULL AND (i.redeemed_ms, i.id) > (:after_ms, :after_id)
    ORDER BY i.redeemed_ms, i.id LIMIT :most OFFSET :skip
) AS p JOIN won_reward AS w ON w.id = p.id {joined}
WHERE w.account_id = :account_id
ORDER BY w.redeemed_ms, w.id;

-- name: sent
-- Shipments that were sent, the latest first.
SELECT {shipment}
FROM (
    SELECT i.id FROM won_reward AS i WHERE i.campaign_id = :campaign_id AND i.sent_ms IS NOT NULL
      AND (i.sent_ms, i.id) < (:after_ms, :after_id)
    ORDER BY i.sent_ms DESC, i.id DESC LIMIT :most OFFSET :skip
) AS p JOIN won_reward AS w ON w.id = p.id {joined}
ORDER BY w.sent_ms DESC, w.id DESC;

-- name: to_send_newest_first
-- Shipments to send, the newest first.
SELECT {shipment}
FROM (
    SELECT i.id FROM won_reward AS i WHERE i.campaign_id = :campaign_id AND i.shipping IS NOT NULL
      AND i.sent_ms IS NULL
    ORDER BY i.redeemed_ms DESC, i.id DESC LIMIT :most OFFSET :skip
) AS p JOIN won_reward AS w ON w.id = p.id {joined}
ORDER BY w.redeemed_ms DESC, w.id DESC;

-- name: sent_newest_first
-- Shipments that were sent, the newest first.
SELECT {shipment}
FROM (
    SELECT i.id FROM won_reward AS i WHERE i.campaign_id = :campaign_id AND i.sent_ms IS NOT NULL
    ORDER BY i.redeemed_ms DESC, i.id DESC LIMIT :most OFFSET :skip
) AS p JOIN won_reward AS w ON w.id = p.id {joined}
ORDER BY w.redeemed_ms DESC, w.id DESC;

-- name: count_to_send
-- How many shipments are to be sent, up to a limit.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM won_reward
    WHERE campaign_id = :campaign_id AND shipping IS NOT NULL AND sent_ms IS NULL LIMIT :most
) AS counted;

-- name: count_sent
-- How many shipments were sent, up to a limit.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM won_reward WHERE campaign_id = :campaign_id AND sent_ms IS NOT NULL LIMIT :most
) AS counted;

-- name: count_to_send_by_reward
-- Rewards that are no longer offered too, as long as one of them is to send.
SELECT r.id, r.name, (
    SELECT COUNT(*) FROM (
        SELECT 1 AS one FROM won_reward AS w
        WHERE w.reward_id = r.id AND w.shipping IS NOT NULL AND w.sent_ms IS NULL LIMIT :most
    ) AS counted
) AS to_send
FROM reward AS r WHERE r.campaign_id = :campaign_id AND r.kind = 'physical'
ORDER BY r.referrals, r.id;

-- name: unclaimed_of_reward
-- Subscribers who earned a physical reward and gave no address yet.
SELECT w.subscriber_id AS id, s.email, s.name, r.name AS reward, w.earned_ms
FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id JOIN subscriber AS s ON s.id = w.subscriber_id
WHERE w.account_id = :account_id
  AND w.reward_id = :reward_id
  AND w.status = 'unlocked'
  AND s.erased_ms IS NULL
ORDER BY w.earned_ms, w.id
LIMIT :most;

-- name: physical_rewards
-- Rewards that are sent by mail.
SELECT id FROM reward
WHERE account_id = :account_id AND campaign_id = :campaign_id AND kind = 'physical'
ORDER BY referrals, id;

-- name: mark_sent
-- A shipment was sent.
UPDATE won_reward
SET sent_ms = :now_ms, sent_by = :by, tracking_note = :tracking_note, announce_ms = :announce_ms,
    sent_batch = :batch
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND id = :id
  AND shipping IS NOT NULL
  AND sent_ms IS NULL;

-- name: mark_unsent
-- A shipment was not sent after all.
UPDATE won_reward
SET sent_ms = NULL, sent_by = NULL, tracking_note = NULL, announce_ms = NULL, sent_batch = NULL,
    delivered_ms = NULL
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND id = :id
  AND shipping IS NOT NULL
  AND sent_ms IS NOT NULL;

-- name: not_announced
-- Those of a batch that nobody was told about yet.
SELECT id FROM won_reward
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND sent_batch = :batch
  AND announce_ms IS NOT NULL
ORDER BY id;

-- name: change_note
-- Change the tracking note of a shipment.
UPDATE won_reward SET tracking_note = :tracking_note, announce_ms = COALESCE(:announce_ms, announce_ms)
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND sent_ms IS NOT NULL;

-- name: mark_delivered
-- A shipment arrived.
UPDATE won_reward SET delivered_ms = :now_ms
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND id = :id
  AND sent_ms IS NOT NULL
  AND delivered_ms IS NULL;

-- name: mark_undelivered
-- A shipment did not arrive after all.
UPDATE won_reward SET delivered_ms = NULL
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND delivered_ms IS NOT NULL;

-- name: correct_address
-- Correct the address of a shipment that is not sent yet.
UPDATE won_reward SET shipping = :address, variant = :variant, address_changed_ms = :now_ms
WHERE account_id = :account_id
  AND id = :id
  AND subscriber_id = :subscriber_id
  AND shipping IS NOT NULL
  AND sent_ms IS NULL;

-- name: with_old_address
-- Shipments whose address is needed no longer.
SELECT id, account_id, subscriber_id, redeemed_ms FROM won_reward
WHERE sent_ms < :before_ms AND sent_ms IS NOT NULL AND shipping IS NOT NULL
ORDER BY sent_ms
LIMIT :batch;

-- name: remove_address
-- Delete the address of a shipment.
UPDATE won_reward SET shipping = NULL WHERE account_id = :account_id AND id = :id;

-- name: erase
-- Delete addresses and notes of a subscriber who is erased.
UPDATE won_reward SET shipping = NULL, tracking_note = NULL, announce_ms = NULL
WHERE account_id = :account_id AND subscriber_id = :subscriber_id;
