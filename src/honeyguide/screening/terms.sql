-- name: terms
-- The terms under which a paid referral arrived.
SELECT rule, screening AS level, arrived_ms, hold_until_ms, was_allowed, program_id, look_id, first_look
FROM partner_referral
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND rule IS NOT NULL;

-- name: confirmed_key
-- Of the address that they confirmed, if it is another than they brought.
SELECT confirmed_person_key FROM partner_referral
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND confirmed_person_key IS NOT NULL;

-- name: person_keys
-- Of addresses that they brought or confirmed; of earlier versions with the key of today.
SELECT k.person_key FROM (
    SELECT person_key FROM partner_referral
    WHERE account_id = :account_id AND subscriber_id = :subscriber_id
    UNION ALL SELECT confirmed_person_key FROM partner_referral
    WHERE account_id = :account_id AND subscriber_id = :subscriber_id
    UNION ALL SELECT e.person_key FROM partner_referral AS r
    JOIN earlier_person_key AS e ON e.earlier_key = r.person_key
    WHERE r.account_id = :account_id AND r.subscriber_id = :subscriber_id
) AS k WHERE k.person_key IS NOT NULL;
