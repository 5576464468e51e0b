-- fragment: earned_reward
w.id, w.reward_id, w.subscriber_id, w.multiple, w.status, w.coupon_code, w.earned_ms,
w.unlocked_ms, w.redeemed_ms, w.redeemed_by, w.shipping, w.variant, w.sent_ms, w.tracking_note,
w.delivered_ms, r.name, r.referrals, r.kind, r.recurring, r.description, r.link,
r.variants, w.claimed_ms, w.decline_reason

-- name: offered
-- All rewards of the campaign, what the advocate has toward them, and how many of each they have. Multiples
-- come in order, but an import marks only the last of those that were given elsewhere.
SELECT r.id, r.name, r.referrals, r.kind, r.recurring, r.approval, r.description, r.link, r.coupon_code,
       r.is_pool,
       r.codes_total, r.codes_left, r.waiting, r.created_ms, r.deleted_ms, r.variants,
       s.referrals_verified AS verified, s.adjustments,
       (SELECT COALESCE(MAX(w.multiple), 0)
           FROM won_reward AS w
           WHERE w.reward_id = r.id AND w.subscriber_id = s.id) AS have
FROM subscriber AS s JOIN reward AS r ON r.campaign_id = s.campaign_id AND r.deleted_ms IS NULL
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.id = :subscriber_id
  AND COALESCE(s.erased_ms, 0) = 0
ORDER BY r.referrals, r.id;

-- name: insert
-- An earned reward, unless the subscriber has it.
{insert won_reward:
    id, account_id, campaign_id, reward_id, subscriber_id, multiple, status = 'awaiting_approval',
    earned_ms = :now_ms
}
ON CONFLICT (reward_id, subscriber_id, multiple) DO NOTHING;

-- name: grant
-- Unlock an earned reward, with its code if it has one.
-- touches: changes won_reward, triggers subscriber_change, reads integration
UPDATE won_reward SET status = 'unlocked', coupon_code = :coupon_code, unlocked_ms = :now_ms,
    approved_by = COALESCE(:by, approved_by)
WHERE account_id = :account_id AND id = :id;

-- name: lack
-- An earned reward waits for codes.
-- touches: changes won_reward, triggers subscriber_change, reads integration
UPDATE won_reward SET status = 'out_of_stock', approved_by = COALESCE(:by, approved_by)
WHERE account_id = :account_id AND id = :id;

-- name: claim
-- The subscriber claims an earned reward.
UPDATE won_reward SET claimed_ms = :now_ms, decline_reason = NULL WHERE account_id = :account_id AND id = :id;

-- name: erase_claims
-- Forget claims and reasons of a subscriber who is erased.
UPDATE won_reward
SET claimed_ms = CASE WHEN status = 'unlocked' THEN NULL ELSE claimed_ms END, decline_reason = NULL
WHERE account_id = :account_id
  AND subscriber_id = :subscriber_id
  AND (claimed_ms IS NOT NULL OR decline_reason IS NOT NULL);

-- name: redeem
-- An earned reward is redeemed.
UPDATE won_reward SET status = 'redeemed', redeemed_ms = :now_ms, redeemed_by = :by, decline_reason = NULL
WHERE account_id = :account_id AND id = :id;

-- name: lock
-- Lock an earned reward.
SELECT id FROM won_reward WHERE account_id = :account_id AND id = :id;

-- name: by_id
-- One earned reward.
SELECT {earned_reward}
FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id
WHERE w.account_id = :account_id AND w.campaign_id = :campaign_id AND w.id = :id;

-- name: of_person
-- Earned rewards of a subscriber.
SELECT {earned_reward}
FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id
WHERE w.account_id = :account_id AND w.campaign_id = :campaign_id AND w.subscriber_id = :subscriber_id
ORDER BY w.earned_ms, w.id
LIMIT :most OFFSET :skip;

-- name: some_of_person
-- Here and in the next one without the campaign: SQLite would read all that its advocates ever earned.
SELECT {earned_reward}
FROM (SELECT o.id, ROW_NUMBER() OVER (PARTITION BY o.reward_id ORDER BY
            CASE WHEN o.status = 'redeemed' THEN 1 ELSE 0 END,
            CASE WHEN o.status = 'redeemed' THEN -o.multiple ELSE o.multiple END) AS place
        FROM won_reward AS o
        WHERE o.account_id = :account_id AND o.subscriber_id = :subscriber_id) AS p
    JOIN won_reward AS w ON w.id = p.id JOIN reward AS r ON r.id = w.reward_id
WHERE p.place <= :most
ORDER BY w.earned_ms, w.id;

-- name: count_of_person
-- How many rewards a subscriber earned.
SELECT COUNT(*) AS n FROM won_reward WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: of_people
-- `ids` is a JSON object whose keys are the ids. CROSS JOIN makes SQLite start with them. With IN it would
-- scan everything that the campaign's advocates ever earned. The first of each come first, so that a limit
-- cuts off those who have most.
SELECT {earned_reward}
FROM (SELECT o.id, ROW_NUMBER() OVER (PARTITION BY o.subscriber_id ORDER BY o.earned_ms, o.id) AS place
      FROM json_each(:ids) AS p CROSS JOIN won_reward AS o
      WHERE o.subscriber_id = p.key AND o.account_id = :account_id AND o.campaign_id = :campaign_id
      ORDER BY place, o.id LIMIT :most) AS f
    JOIN won_reward AS w ON w.id = f.id JOIN reward AS r ON r.id = w.reward_id
ORDER BY w.earned_ms, w.id;

-- name: of_campaign
-- Earned rewards of the campaign, the newest first.
SELECT {earned_reward}
FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id
WHERE w.account_id = :account_id AND w.campaign_id = :campaign_id AND w.status = :status
ORDER BY w.earned_ms DESC, w.id DESC
LIMIT :most OFFSET :skip;

-- name: count_of_campaign
-- How many rewards were earned in the campaign.
SELECT COUNT(*) AS n FROM won_reward
WHERE account_id = :account_id AND campaign_id = :campaign_id AND status = :status;

-- name: waiting
-- In the order in which they were earned. Erased subscribers are skipped.
SELECT {earned_reward}
FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id JOIN subscriber AS s ON s.id = w.subscriber_id
WHERE w.account_id = :account_id
  AND w.reward_id = :reward_id
  AND w.status = 'out_of_stock'
  AND s.erased_ms IS NULL
ORDER BY w.id
LIMIT :batch;

-- name: queued_of_person
-- Rewards for whose codes the subscriber waits.
SELECT DISTINCT reward_id FROM won_reward
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND status = 'out_of_stock'
ORDER BY reward_id;

-- name: count_queued
-- For how many codes the subscriber waits.
SELECT COUNT(*) AS n FROM won_reward
WHERE account_id = :account_id
  AND subscriber_id = :subscriber_id
  AND reward_id = :reward_id
  AND status = 'out_of_stock';
