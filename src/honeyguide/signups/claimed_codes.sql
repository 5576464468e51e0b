-- name: judge
UPDATE subscriber
SET referral_status = :status, referral_reason = :reason, referral_due_ms = :due_ms, referral_behind = :behind
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND referrer_code IS NULL;

-- name: refer
UPDATE subscriber SET {assign referrer_code, referrer_id, claimed_code = NULL}
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND referrer_code IS NULL;

-- name: forget
UPDATE subscriber
SET claimed_code = NULL
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;
