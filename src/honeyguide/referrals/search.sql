-- Every list gives the same columns. The referrer is looked up by its id, row by row. `ids` is a JSON object with the ids for keys,
-- which both engines read alike.

-- name: email_begins
SELECT id FROM subscriber WHERE campaign_id = :campaign_id AND email_key >= :low AND email_key < :high
ORDER BY email_key LIMIT :near;

-- name: name_begins
SELECT id FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND name IS NOT NULL
  AND lower(name) >= :low AND lower(name) < :high ORDER BY lower(name) LIMIT :near;

-- name: code_is
SELECT id FROM subscriber WHERE ref_code = :low AND campaign_id = :campaign_id;

-- name: of_ids
SELECT s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id, r.email AS referrer_email,
       r.name AS referrer_name, s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending,
       s.created_ms, s.received_ms, s.ip_address, s.decided_by, s.decided_ms
FROM subscriber AS s LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE s.id IN (SELECT key FROM json_each(:ids)) AND s.campaign_id = :campaign_id AND s.erased_ms IS NULL AND (
      CAST(:show AS TEXT) = 'all' OR (CAST(:show AS TEXT) = 'referrals' AND s.referrer_code IS NOT NULL) OR (CAST(:show AS TEXT) = 'advocates' AND s.is_advocate = 1)
      OR (CAST(:show AS TEXT) = 'unsubscribed' AND s.status = 'unsubscribed')
      OR (s.referrer_code IS NOT NULL AND s.referral_status = CAST(:show AS TEXT))
  )
ORDER BY s.created_ms DESC, s.id DESC LIMIT :most;

-- name: newest
SELECT s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id, r.email AS referrer_email,
       r.name AS referrer_name, s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending,
       s.created_ms, s.received_ms, s.ip_address, s.decided_by, s.decided_ms
FROM subscriber AS s LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE s.campaign_id = :campaign_id AND s.erased_ms IS NULL AND (
      CAST(:show AS TEXT) = 'all' OR (CAST(:show AS TEXT) = 'referrals' AND s.referrer_code IS NOT NULL) OR (CAST(:show AS TEXT) = 'advocates' AND s.is_advocate = 1)
      OR (CAST(:show AS TEXT) = 'unsubscribed' AND s.status = 'unsubscribed')
      OR (s.referrer_code IS NOT NULL AND s.referral_status = CAST(:show AS TEXT))
  )
  AND (s.created_ms, s.id) < (:ms, :id) ORDER BY s.created_ms DESC, s.id DESC LIMIT :most;

-- name: oldest
SELECT s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id, r.email AS referrer_email,
       r.name AS referrer_name, s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending,
       s.created_ms, s.received_ms, s.ip_address, s.decided_by, s.decided_ms
FROM subscriber AS s LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE s.campaign_id = :campaign_id AND s.erased_ms IS NULL AND (
      CAST(:show AS TEXT) = 'all' OR (CAST(:show AS TEXT) = 'referrals' AND s.referrer_code IS NOT NULL) OR (CAST(:show AS TEXT) = 'advocates' AND s.is_advocate = 1)
      OR (CAST(:show AS TEXT) = 'unsubscribed' AND s.status = 'unsubscribed')
      OR (s.referrer_code IS NOT NULL AND s.referral_status = CAST(:show AS TEXT))
  )
  AND (s.created_ms, s.id) > (:ms, :id) ORDER BY s.created_ms, s.id LIMIT :most;

-- name: best
SELECT s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id, r.email AS referrer_email,
       r.name AS referrer_name, s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending,
       s.created_ms, s.received_ms, s.ip_address, s.decided_by, s.decided_ms
FROM advocate AS a JOIN subscriber AS s ON s.id = a.subscriber_id
     LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE a.campaign_id = :campaign_id AND a.verified > 0
  AND (a.verified, a.subscriber_id) < (:count, :id) ORDER BY a.verified DESC, a.subscriber_id DESC LIMIT :most;

-- name: judged
SELECT s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id, r.email AS referrer_email,
       r.name AS referrer_name, s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending,
       s.created_ms, s.received_ms, s.ip_address, s.decided_by, s.decided_ms
FROM subscriber AS s LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE s.campaign_id = :campaign_id AND s.erased_ms IS NULL AND s.referrer_code IS NOT NULL AND s.referral_status <> 'verified'
  AND s.referral_status = :status AND (s.received_ms, s.id) < (:ms, :id) ORDER BY s.received_ms DESC, s.id DESC LIMIT :most;

-- name: left
SELECT s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id, r.email AS referrer_email,
       r.name AS referrer_name, s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending,
       s.created_ms, s.received_ms, s.ip_address, s.decided_by, s.decided_ms
FROM subscriber AS s LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE s.campaign_id = :campaign_id AND s.erased_ms IS NULL AND s.status = 'unsubscribed'
  AND (s.created_ms, s.id) < (:ms, :id) ORDER BY s.created_ms DESC, s.id DESC LIMIT :most;

-- name: referrers
SELECT id, email, name FROM subscriber WHERE campaign_id = :campaign_id AND id IN (SELECT key FROM json_each(:ids));
