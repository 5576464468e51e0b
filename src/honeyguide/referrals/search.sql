-- Each list finds a page of ids in its own index. `of_ids` then loads what is shown of each subscriber.

-- name: email_begins
SELECT id FROM subscriber WHERE campaign_id = :campaign_id AND email_key >= :low AND email_key < :high
ORDER BY email_key LIMIT :near;

-- name: name_begins
SELECT id FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND name IS NOT NULL
  AND lower(name) >= :low AND lower(name) < :high ORDER BY lower(name) LIMIT :near;

-- name: code_is
SELECT id FROM subscriber WHERE ref_code = :low AND campaign_id = :campaign_id;

-- name: among
SELECT s.id FROM subscriber AS s
WHERE s.id {in :ids} AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0 AND (
      CAST(:show AS TEXT) = 'all' OR (CAST(:show AS TEXT) = 'referrals' AND s.referrer_code IS NOT NULL)
      OR (CAST(:show AS TEXT) = 'advocates' AND s.is_advocate = 1) OR (CAST(:show AS TEXT) = 'unsubscribed' AND s.status = 'unsubscribed')
      OR (s.referrer_code IS NOT NULL AND s.referral_status = CAST(:show AS TEXT))
  )
ORDER BY s.created_ms DESC, s.id DESC LIMIT :most;

-- name: oldest
SELECT id FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND (
      CAST(:show AS TEXT) = 'all' OR (CAST(:show AS TEXT) = 'referrals' AND referrer_code IS NOT NULL)
      OR (CAST(:show AS TEXT) = 'advocates' AND is_advocate = 1)
  )
  AND (created_ms, id) > (:at, :id) ORDER BY created_ms, id LIMIT :most;

-- name: best
SELECT subscriber_id FROM advocate WHERE campaign_id = :campaign_id AND verified > 0
  AND (verified, subscriber_id) < (:at, :id) ORDER BY verified DESC, subscriber_id DESC LIMIT :most;

-- name: judged
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referrer_code IS NOT NULL AND referral_status <> 'verified'
  AND referral_status = :status AND (received_ms, id) < (:at, :id) ORDER BY received_ms DESC, id DESC LIMIT :most;

-- name: suspected
SELECT id FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
  AND referral_reason IN ('same_network', 'many_from_one_network', 'burst')
  AND (received_ms, id) < (:at, :id) ORDER BY received_ms DESC, id DESC LIMIT :most;

-- name: left
SELECT id FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND status = 'unsubscribed'
  AND (created_ms, id) < (:at, :id) ORDER BY created_ms DESC, id DESC LIMIT :most;

-- name: of_ids
SELECT s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id, r.email AS referrer_email,
       r.name AS referrer_name, s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending,
       s.created_ms, s.received_ms, s.ip_address, s.decided_by, s.decided_ms
FROM subscriber AS s LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE s.id {in :ids} AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0;
