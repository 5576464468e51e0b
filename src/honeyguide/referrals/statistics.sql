-- name: totals
SELECT COUNT(CASE WHEN s.origin <> 'import' THEN 1 END) AS new,
       COUNT(CASE WHEN s.origin <> 'import' AND s.referrer_code IS NOT NULL AND s.partner_campaign_id IS NULL THEN 1 END)
           AS by_subscribers,
       COUNT(CASE WHEN s.origin <> 'import' AND s.partner_campaign_id IS NOT NULL THEN 1 END) AS by_partners,
       COUNT(CASE WHEN s.origin <> 'import' AND s.referrer_code IS NOT NULL AND s.referral_status = 'verified' THEN 1 END) AS verified,
       COUNT(CASE WHEN s.origin <> 'import' AND s.referrer_code IS NOT NULL AND s.referral_status = 'pending' THEN 1 END) AS pending,
       COUNT(CASE WHEN s.origin <> 'import' AND s.referrer_code IS NOT NULL AND s.referral_status = 'rejected' THEN 1 END) AS rejected,
       COUNT(CASE WHEN s.origin = 'import' THEN 1 END) AS imported,
       (SELECT CAST(COALESCE(SUM(c.n), 0) AS BIGINT) FROM click_day AS c
        WHERE c.account_id = :account_id AND c.target_id = :campaign_id AND c.code = ''
          AND c.day_ms >= :since_ms AND c.day_ms < :until_ms) AS clicks
FROM subscriber AS s
WHERE s.account_id = :account_id AND s.campaign_id = :campaign_id AND s.erased_ms IS NULL
  AND s.created_ms >= :since_ms AND s.created_ms < :until_ms;

-- name: top_advocates
SELECT a.id, a.email, a.name, r.verified, r.pending, r.rejected
FROM (
    SELECT s.referrer_id, COUNT(CASE s.referral_status WHEN 'verified' THEN 1 END) AS verified,
           COUNT(CASE s.referral_status WHEN 'pending' THEN 1 END) AS pending,
           COUNT(CASE s.referral_status WHEN 'rejected' THEN 1 END) AS rejected
    FROM subscriber AS s
    WHERE s.account_id = :account_id AND s.campaign_id = :campaign_id AND s.erased_ms IS NULL AND s.referrer_code IS NOT NULL
      AND s.referrer_id IS NOT NULL AND s.origin <> 'import' AND s.created_ms >= :since_ms AND s.created_ms < :until_ms
    GROUP BY s.referrer_id
) AS r JOIN subscriber AS a ON a.id = r.referrer_id AND COALESCE(a.erased_ms, 0) = 0
WHERE r.verified + r.pending > 0
ORDER BY r.verified DESC, r.pending DESC, a.id DESC LIMIT :most;
