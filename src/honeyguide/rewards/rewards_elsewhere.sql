-- name: mark_given
-- Rewards that subscribers were given by another tool.
INSERT INTO won_reward (id, account_id, campaign_id, reward_id, subscriber_id, multiple, status,
    earned_ms, unlocked_ms, redeemed_ms,
    redeemed_by)
SELECT r.id, :account_id, :campaign_id, r.reward_id, r.subscriber_id, r.multiple, 'redeemed', :now_ms,
       :now_ms, :now_ms, :by
FROM {rows :rows AS r (id TEXT, reward_id TEXT, subscriber_id TEXT, multiple BIGINT)} WHERE true
ON CONFLICT (reward_id, subscriber_id, multiple) DO NOTHING;

-- name: restore
-- Earned rewards of an export that is read back.
INSERT INTO won_reward (id, account_id, campaign_id, reward_id, subscriber_id, multiple, status,
    coupon_code, earned_ms, unlocked_ms,
    redeemed_ms, redeemed_by)
SELECT r.id, :account_id, :campaign_id, r.reward_id, r.subscriber_id, r.multiple, r.status, r.coupon_code,
       r.earned_ms, r.unlocked_ms,
    r.redeemed_ms, r.redeemed_by
FROM {rows :rows AS r (
    id TEXT, reward_id TEXT, subscriber_id TEXT, multiple BIGINT, status TEXT, coupon_code TEXT,
    earned_ms BIGINT, unlocked_ms BIGINT, redeemed_ms BIGINT, redeemed_by TEXT
)}
WHERE true
ON CONFLICT (reward_id, subscriber_id, multiple) DO NOTHING;
