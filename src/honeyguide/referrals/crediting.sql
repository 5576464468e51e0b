-- name: set_first_referral
UPDATE campaign SET first_referral_ms = :now_ms
WHERE account_id = :account_id AND id = :campaign_id AND first_referral_ms IS NULL;
