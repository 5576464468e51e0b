-- name: terms
SELECT rule, screening AS level, arrived_ms, hold_until_ms FROM partner_referral
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND rule IS NOT NULL;
