-- name: lock
-- Lock a program.
SELECT id FROM program WHERE account_id = :account_id AND id = :id AND deleted_ms IS NULL;

-- name: of_program
-- How a program verifies referrals, and how its campaign screens them.
SELECT p.rule, p.screening, p.is_verification_chosen, c.screening AS campaign_level, p.first_look,
       p.verification_offer_ms
FROM program AS p
JOIN publication AS b ON b.id = p.publication_id
JOIN campaign AS c ON c.account_id = p.account_id
WHERE p.account_id = :account_id AND p.id = :id AND p.deleted_ms IS NULL AND b.deleted_ms IS NULL;

-- name: set
-- Change how a program verifies referrals.
UPDATE program SET {assign rule, screening, is_verification_chosen, first_look}
WHERE account_id = :account_id AND id = :id;

-- name: dismiss
-- Dismiss the offer of another rule.
UPDATE program SET verification_offer_ms = :now_ms WHERE account_id = :account_id AND id = :id;

-- name: offered
-- Programs whose owner could be offered another rule.
SELECT p.id, b.name AS publication_name FROM program AS p JOIN publication AS b ON b.id = p.publication_id
WHERE p.account_id = :account_id AND p.deleted_ms IS NULL AND b.deleted_ms IS NULL
  AND p.screening IS NULL AND p.is_verification_chosen = 0 AND p.verification_offer_ms IS NULL
ORDER BY p.created_ms, p.id
LIMIT :most;
