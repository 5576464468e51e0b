-- fragment: suspicious
referral_status = 'pending'
  AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated',
      'needs_review')

-- fragment: waiting
SELECT id, email, referrer_code, referrer_id, partner_campaign_id, referral_reason AS reason,
       referral_due_ms AS due_ms,
       CASE WHEN referral_reason IN ('same_network', 'many_from_one_network') THEN network END AS ip_network,
           received_ms
FROM subscriber

-- name: suspected_newest
-- Only the newest are grouped, so that it takes no longer with a hundred thousand of them.
{waiting} WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND {suspicious}
ORDER BY received_ms DESC, id DESC
LIMIT :newest;

-- name: pending_newest
-- Referrals to review, the newest first.
{waiting}
    WHERE campaign_id = :campaign_id
      AND erased_ms IS NULL
      AND referrer_code IS NOT NULL
      AND referral_status <> 'verified'
  AND referral_status = 'pending'
ORDER BY received_ms DESC, id DESC
LIMIT :newest;

-- name: taken_in
-- The first looks that the owner is asked for, each of partners with a common owner.
SELECT id FROM first_look WHERE account_id = :account_id AND asked_ms <= :now_ms;

-- name: fees
-- Nobody is paid for referrals to their own program.
SELECT subscriber_id, fee_cents, budget_cents, cap_cents, arrived_ms FROM partner_referral
WHERE subscriber_id {in :ids} AND account_id = :account_id AND is_own = 0 AND fee_cents > 0;

-- name: referrers
-- The referrers of these referrals.
SELECT id, email, name, referrals_verified, adjustments FROM subscriber
WHERE id {in :ids} AND campaign_id = :campaign_id;

-- name: suspected_of_code
-- COALESCE keeps the partial indexes of whole lists out of it: the one on the code finds these rows at once.
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id
  AND referrer_code = :code
  AND received_ms <= :at
  AND COALESCE(erased_ms, 0) = 0
  AND {suspicious}
  AND (received_ms, id) < (:at, :id)
ORDER BY received_ms DESC, id DESC
LIMIT :most;

-- name: pending_of_code
-- Pending referrals with a code.
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id
  AND referrer_code = :code
  AND received_ms <= :at
  AND COALESCE(erased_ms, 0) = 0
  AND referral_status = 'pending' AND (received_ms, id) < (:at, :id)
ORDER BY received_ms DESC, id DESC
LIMIT :most;
