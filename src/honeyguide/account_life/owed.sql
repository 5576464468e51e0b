-- name: counts
-- Each is counted up to a limit.
SELECT
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM won_reward WHERE account_id = :account_id AND campaign_id = :campaign_id
          AND status IN ('awaiting_approval', 'unlocked', 'out_of_stock') LIMIT :most
    ) AS w) AS rewards,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM won_reward WHERE account_id = :account_id AND campaign_id = :campaign_id
          AND shipping IS NOT NULL AND sent_ms IS NULL LIMIT :most
    ) AS w) AS shipments,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM subscriber WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
          AND referrer_code IS NOT NULL AND referral_status <> 'verified' AND referral_status = 'pending'
          AND partner_campaign_id IS NULL LIMIT :most
    ) AS s) AS referrals,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM subscriber WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
          AND referrer_code IS NOT NULL AND referral_status <> 'verified' AND referral_status = 'pending'
          AND partner_campaign_id IS NOT NULL LIMIT :most
    ) AS s) AS paid_referrals,
    (SELECT COUNT(*) FROM payout WHERE account_id = :account_id AND paid_ms IS NULL) AS unpaid_payouts,
    (SELECT COALESCE(SUM(amount_cents), 0) FROM payout WHERE account_id = :account_id AND paid_ms IS NULL) AS unpaid_cents;
