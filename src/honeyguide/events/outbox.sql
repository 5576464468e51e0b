-- fragment: gets_type
-- A test goes to one webhook whatever its flags.
CASE d.type WHEN 'new_referral' THEN w.new_referral WHEN 'new_partner_referral' THEN w.new_partner_referral
    WHEN 'reward_unlocked' THEN w.reward_unlocked WHEN 'reward_redeemed' THEN w.reward_redeemed
    WHEN 'new_subscriber' THEN w.new_subscriber WHEN 'subscriber_unsubscribed' THEN w.subscriber_unsubscribed
    WHEN 'referral_verified' THEN w.referral_verified WHEN 'referral_rejected' THEN w.referral_rejected
    WHEN 'partner_referral_reversed' THEN w.partner_referral_reversed
    ELSE 1 END = 1

-- name: listeners
-- The columns are in the order of `ALL_TYPES`.
SELECT id, new_referral, new_partner_referral, reward_unlocked, reward_redeemed,
       new_subscriber, subscriber_unsubscribed, referral_verified, referral_rejected,
       partner_referral_reversed
FROM webhook WHERE account_id = :account_id
ORDER BY id;

-- name: insert_events
-- Events of a change, in the transaction of the change.
-- touches: adds event
INSERT INTO event (id, account_id, type, body, subscriber_id, referrer_id, created_ms)
SELECT e.id, :account_id, e.type, e.body, e.subscriber_id, e.referrer_id, CAST(:now_ms AS BIGINT)
FROM {rows :events AS e (id TEXT, type TEXT, body TEXT, subscriber_id TEXT, referrer_id TEXT)};

-- name: insert_deliveries (sqlite)
-- touches: adds delivery, reads webhook
-- Skips webhooks that were deleted, or whose flag was unset, meanwhile. A disabled one gets a cancelled
-- delivery, which can be replayed once it is enabled again.
INSERT INTO delivery (id, account_id, webhook_id, event_id, status, due_ms, created_ms)
SELECT d.id, w.account_id, w.id, d.event_id,
       CASE WHEN w.disabled_ms IS NULL THEN 'pending' ELSE 'cancelled' END,
    :now_ms, :now_ms
FROM {rows :deliveries AS d (id TEXT, webhook_id TEXT, event_id TEXT, type TEXT)}
CROSS JOIN webhook AS w WHERE w.id = d.webhook_id AND w.account_id = :account_id AND {gets_type};

-- name: insert_deliveries (postgres)
-- The lock waits for a transaction that disables the webhook or changes its flags, and then sees that change.
INSERT INTO delivery (id, account_id, webhook_id, event_id, status, due_ms, created_ms)
SELECT d.id, w.account_id, w.id, d.event_id,
       CASE WHEN w.disabled_ms IS NULL THEN 'pending' ELSE 'cancelled' END,
    CAST(:now_ms AS BIGINT), :now_ms
FROM {rows :deliveries AS d (id TEXT, webhook_id TEXT, event_id TEXT, type TEXT)}
JOIN webhook AS w ON w.id = d.webhook_id AND w.account_id = :account_id
WHERE {gets_type}
FOR KEY SHARE OF w;

-- name: cancel_about
-- Without its lease, an attempt in flight records neither its result nor the answer.
UPDATE delivery
SET status = CASE WHEN status = 'pending' THEN 'cancelled' ELSE status END, leased_until_ms = 0,
    lease_token = NULL
WHERE (status = 'pending' OR lease_token IS NOT NULL) AND id IN (
    SELECT d.id FROM event AS e JOIN delivery AS d ON d.event_id = e.id
    WHERE e.account_id = :account_id AND (e.subscriber_id = :subscriber_id OR e.referrer_id = :subscriber_id)
);

-- name: drop_answers_about
-- Delete what receivers answered to events about an erased subscriber.
UPDATE attempt
SET response = NULL
WHERE account_id = :account_id AND response IS NOT NULL AND delivery_id IN (
    SELECT d.id FROM delivery AS d JOIN event AS e ON e.id = d.event_id
    WHERE e.account_id = :account_id AND (e.subscriber_id = :subscriber_id OR e.referrer_id = :subscriber_id)
);

-- name: drop_bodies_about
-- Delete the bodies of events about an erased subscriber.
UPDATE event SET body = NULL WHERE account_id = :account_id AND body IS NOT NULL
  AND (subscriber_id = :subscriber_id OR referrer_id = :subscriber_id);

-- name: at_that_time
-- An event of this kind that was recorded at this very time.
SELECT id, body FROM event
WHERE account_id = :account_id
  AND subscriber_id = :subscriber_id
  AND type = :type
  AND created_ms = :created_ms
  AND body IS NOT NULL;

-- name: replace_body
-- Change the body of an event.
UPDATE event SET body = :body WHERE account_id = :account_id AND id = :id;

-- name: drop_answers_to
-- Delete what receivers answered to an event.
UPDATE attempt SET response = NULL WHERE account_id = :account_id AND response IS NOT NULL
  AND delivery_id IN (SELECT id FROM delivery WHERE event_id = :event_id);

-- name: old
-- Events that are old and have nothing left to deliver.
SELECT e.id FROM event AS e WHERE e.created_ms < :before_ms
  AND NOT EXISTS (SELECT 1 FROM delivery AS d WHERE d.event_id = e.id AND d.status = 'pending')
ORDER BY e.created_ms
LIMIT :most;

-- name: purge
-- Delete these events, unless a delivery is pending again.
DELETE FROM event WHERE id {in :rows}
  AND NOT EXISTS (SELECT 1 FROM delivery AS d WHERE d.event_id = event.id AND d.status = 'pending');
