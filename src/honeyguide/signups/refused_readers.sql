-- name: to_refuse
-- Over all accounts: readers whom the owner refused, while they are pending or their charge can be taken
-- back. Whoever is verified by hand afterwards stays. Who has not confirmed is nobody's reader yet, and may
-- confirm that they came through somebody else.
SELECT f.account_id, c.id AS campaign_id, f.program_id, r.id, s.id AS subscriber_id,
       CASE WHEN s.referral_status = 'pending' THEN 1 ELSE 0 END AS is_pending,
       CASE WHEN s.email IS NULL OR s.status = 'unsubscribed' THEN 1 ELSE 0 END AS is_gone
FROM first_look AS f
JOIN campaign AS c ON c.account_id = f.account_id
JOIN partner_referral AS r ON r.look_id = f.id AND r.account_id = f.account_id
  AND r.arrived_ms <= f.refused_ms
JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE f.refused_ms IS NOT NULL
  AND f.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND (s.referral_status = 'pending' AND COALESCE(s.referral_reason, '') <> 'awaiting_confirmation'
      AND s.erased_ms IS NULL OR s.referral_status = 'verified' AND r.decided_ms <= f.refused_ms
      AND r.charged_cents > 0 AND r.charged_month > :last_closed AND r.reversal_id IS NULL)
ORDER BY r.id
LIMIT :most;
