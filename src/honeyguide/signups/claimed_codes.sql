-- name: judge
-- Set the status of a referral whose referrer is known now.
UPDATE subscriber
SET referral_status = :status, referral_reason = :reason, referral_due_ms = :due_ms, referral_behind = :behind
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND referrer_code IS NULL;

-- name: refer
-- Connect a subscriber with the referrer whose code they came with.
UPDATE subscriber SET {assign referrer_code, referrer_id, claimed_code = NULL}
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND referrer_code IS NULL;

-- name: forget
-- Forget the code that a subscriber came with.
UPDATE subscriber
SET claimed_code = NULL
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;
