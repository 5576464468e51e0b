-- name: awaited
-- What waits for a look of the referrals of one partner.
SELECT f.asked_ms, f.paused_ms, COUNT(s.id) AS waiting,
       CAST(COALESCE(SUM(r.fee_cents), 0) AS BIGINT) AS waiting_cents,
       MIN(s.referral_due_ms) AS first_day_ms, MAX(s.referral_due_ms) AS last_day_ms
FROM first_look AS f
LEFT JOIN partner_referral AS r ON r.look_id = f.id AND r.partner_campaign_id = :id AND r.decided_ms IS NULL
    AND r.account_id = :account_id
    AND EXISTS (SELECT 1 FROM subscriber AS w
        WHERE w.id = r.subscriber_id AND w.referral_reason = 'awaiting_first_look')
LEFT JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE f.account_id = :account_id AND f.asked_ms <= :now_ms
  AND (f.id = :id OR EXISTS (SELECT 1 FROM partner_referral AS o
      WHERE o.account_id = :account_id AND o.partner_campaign_id = :id AND o.look_id = f.id))
GROUP BY f.id
ORDER BY f.asked_ms
LIMIT 1;

-- name: figures
-- What the network shows of the looks of programs.
SELECT program_id,
       COUNT(CASE WHEN looked_ms IS NOT NULL AND (asked_ms IS NULL OR asked_ms > :late_ms)
           THEN 1 END) AS answered,
       COUNT(CASE WHEN asked_ms <= :late_ms THEN 1 END) AS unanswered
FROM first_look WHERE program_id {in :ids}
GROUP BY program_id;
