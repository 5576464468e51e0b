-- Each scans one index, newest or highest first, and stops after :most rows.

-- name: rejected
SELECT r.reason, COUNT(*) AS n FROM (
    SELECT COALESCE(referral_reason, '') AS reason FROM subscriber
    WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referrer_code IS NOT NULL AND referral_status <> 'verified'
      AND referral_status = 'rejected' AND received_ms >= :since_ms ORDER BY received_ms DESC, id DESC LIMIT :most
) AS r GROUP BY r.reason ORDER BY n DESC, r.reason;

-- name: advocates_referrals
SELECT CAST(COALESCE(SUM(b.verified), 0) AS BIGINT) AS n FROM (
    SELECT verified FROM advocate WHERE campaign_id = :campaign_id ORDER BY verified DESC, subscriber_id DESC LIMIT :most
) AS b;

-- name: earned
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM won_reward WHERE campaign_id = :campaign_id AND status = :status AND earned_ms >= :since_ms
    ORDER BY earned_ms DESC, id DESC LIMIT :most
) AS w;
