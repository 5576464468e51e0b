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
        SELECT 1 FROM subscriber
        WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
          AND referrer_code IS NOT NULL AND referral_status <> 'verified' AND referral_status = 'pending'
          AND partner_campaign_id IS NULL LIMIT :most
    ) AS s) AS referrals,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM subscriber
        WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
          AND referrer_code IS NOT NULL AND referral_status <> 'verified' AND referral_status = 'pending'
          AND partner_campaign_id IS NOT NULL LIMIT :most
    ) AS s) AS paid_referrals,
    (SELECT COUNT(*) FROM payout WHERE account_id = :account_id AND paid_ms IS NULL) AS unpaid_payouts,
    (SELECT COALESCE(SUM(amount_cents), 0)
        FROM payout
        WHERE account_id = :account_id AND paid_ms IS NULL) AS unpaid_cents,
    (SELECT CAST(COALESCE(SUM(g.spent_cents), 0) AS BIGINT)
        FROM program AS p
        JOIN budget AS g ON g.program_id = p.id
     WHERE p.account_id = :account_id
       AND NOT EXISTS (SELECT 1
           FROM period AS m
           WHERE m.month = g.month AND m.closed_ms IS NOT NULL)) AS fees_cents,
    (SELECT CAST(COALESCE(SUM(e.spent_cents), 0) AS BIGINT)
        FROM partner_spend AS e
        WHERE e.partner_account_id = :account_id
       AND NOT EXISTS (SELECT 1
           FROM period AS m
           WHERE m.month = e.month AND m.closed_ms IS NOT NULL)) AS earned_cents;
