-- Subscribers of one campaign, by id, by email, and as pages of a list. To look up one subscriber, use
-- COALESCE(erased_ms, 0) = 0. The partial indexes on `erased_ms IS NULL` are for lists; PostgreSQL would use
-- one of them here, and read the whole campaign, until the table is analyzed (`tests/store/test_plans.py`).

-- name: by_id
-- One subscriber.
-- batch: id
SELECT {subscriber}
FROM subscriber WHERE id = :id AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0;

-- name: by_id_even_erased
-- One subscriber, who may be erased.
SELECT {subscriber} FROM subscriber WHERE id = :id AND campaign_id = :campaign_id;

-- name: by_ids
-- These subscribers.
SELECT {subscriber}
FROM subscriber WHERE id {in :ids} AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0;

-- name: by_email
-- The subscriber with an email address.
-- batch: email_key
SELECT {subscriber}
FROM subscriber WHERE campaign_id = :campaign_id AND email_key = :email_key AND COALESCE(erased_ms, 0) = 0;

-- name: lock
-- Lock a subscriber.
SELECT id FROM subscriber WHERE id = :id AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0;

-- name: list_all
-- Skips rows in the index alone, and reads only those of the page.
SELECT {subscriber}
FROM subscriber WHERE campaign_id = :owner_id AND erased_ms IS NULL
  AND (created_ms, id) <= (
    SELECT created_ms, id FROM subscriber WHERE campaign_id = :owner_id AND erased_ms IS NULL
      AND (created_ms, id) < (:below_ms, :below_id) ORDER BY created_ms DESC, id DESC LIMIT 1 OFFSET :skip
  )
ORDER BY created_ms DESC, id DESC
LIMIT :most;

-- name: list_referrals
-- Referrals of the campaign, the newest first.
SELECT {subscriber}
FROM subscriber WHERE campaign_id = :owner_id AND erased_ms IS NULL AND referrer_code IS NOT NULL
  AND (created_ms, id) <= (
    SELECT created_ms, id FROM subscriber
    WHERE campaign_id = :owner_id AND erased_ms IS NULL AND referrer_code IS NOT NULL
      AND (created_ms, id) < (:below_ms, :below_id) ORDER BY created_ms DESC, id DESC LIMIT 1 OFFSET :skip
  )
ORDER BY created_ms DESC, id DESC
LIMIT :most;

-- name: list_advocates
-- Advocates of the campaign, the newest first.
SELECT {subscriber}
FROM subscriber WHERE campaign_id = :owner_id AND erased_ms IS NULL AND is_advocate = 1
  AND (created_ms, id) <= (
    SELECT created_ms, id FROM subscriber
    WHERE campaign_id = :owner_id AND erased_ms IS NULL AND is_advocate = 1
      AND (created_ms, id) < (:below_ms, :below_id) ORDER BY created_ms DESC, id DESC LIMIT 1 OFFSET :skip
  )
ORDER BY created_ms DESC, id DESC
LIMIT :most;

-- name: count_second_referrals
-- How many referrals the friends of a referrer brought.
SELECT COALESCE(SUM(n.referrals_verified), 0) AS n FROM (
    SELECT referrals_verified FROM subscriber
    WHERE referrer_id = :owner_id
      AND campaign_id = :campaign_id
      AND erased_ms IS NULL
      AND referrer_id IS NOT NULL
    ORDER BY created_ms DESC, id DESC LIMIT :most
) AS n;

-- name: list_referred
-- Subscribers whom a referrer brought, the newest first.
SELECT {subscriber}
FROM subscriber
WHERE referrer_id = :owner_id AND campaign_id = :campaign_id AND erased_ms IS NULL AND referrer_id IS NOT NULL
  AND (created_ms, id) <= (
    SELECT created_ms, id FROM subscriber
    WHERE referrer_id = :owner_id AND erased_ms IS NULL AND referrer_id IS NOT NULL
      AND (created_ms, id) < (:below_ms, :below_id) ORDER BY created_ms DESC, id DESC LIMIT 1 OFFSET :skip
  )
ORDER BY created_ms DESC, id DESC
LIMIT :most;

-- name: first_due_ms
-- When the next pending referral is due.
SELECT MIN(referral_due_ms) AS due_ms FROM subscriber
WHERE referral_status = 'pending'
  AND erased_ms IS NULL
  AND COALESCE(referral_reason, '') <> 'awaiting_confirmation';
