-- name: claimants
-- Who earned these rewards, and where each goes. Nobody who was erased.
SELECT w.id AS earned_id, r.name AS reward, w.variant, w.shipping, s.name, s.email
FROM {list :ids AS i} CROSS JOIN won_reward AS w JOIN reward AS r ON r.id = w.reward_id
    JOIN subscriber AS s ON s.id = w.subscriber_id
WHERE w.id = i.value AND w.account_id = :account_id AND COALESCE(s.erased_ms, 0) = 0;
