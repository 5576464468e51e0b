-- name: of_campaign
-- Which emails advocates get.
SELECT sends_friend_joined AS friend_joined, sends_one_more AS one_more,
       sends_reward_unlocked AS reward_unlocked,
    sends_shipment_sent AS shipment_sent
FROM campaign WHERE account_id = :account_id AND id = :campaign_id;

-- name: switch
-- Choose which emails advocates get.
UPDATE campaign
SET sends_friend_joined = :friend_joined, sends_one_more = :one_more,
    sends_reward_unlocked = :reward_unlocked,
    sends_shipment_sent = :shipment_sent
WHERE account_id = :account_id AND id = :campaign_id;
