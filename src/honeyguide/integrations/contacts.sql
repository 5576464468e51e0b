-- name: earned
-- What they got from us, the newest last. What another tool gave is no news there, where an automation may
-- follow the field.
SELECT w.subscriber_id, r.id AS reward_id, r.name, w.coupon_code
FROM {list :ids AS i} CROSS JOIN won_reward AS w JOIN reward AS r ON r.id = w.reward_id
WHERE w.subscriber_id = i.value AND w.account_id = :account_id AND w.campaign_id = :campaign_id
  AND w.status IN ('unlocked', 'redeemed') AND COALESCE(w.redeemed_by, '') <> 'import'
ORDER BY w.earned_ms, w.id;
