-- name: lock_month
-- Lock a program's month of first looks, which is made if there is none.
{insert first_look_month: program_id, month, account_id}
ON CONFLICT (program_id, month) DO UPDATE SET fees = first_look_month.fees
RETURNING fees;

-- name: make
-- The look at a partner whose first referral may count.
{insert first_look: id, account_id, program_id, allowed = :first_look}
ON CONFLICT (id) DO NOTHING;

-- name: take
-- Take one of what is allowed, if any is left. Until the first look, a referral has what was allowed when it
-- came, whatever others had.
UPDATE first_look
SET counted = counted + 1, allowed = CASE WHEN allowed > counted THEN allowed ELSE counted + 1 END
WHERE account_id = :account_id AND id = :id
  AND counted < CASE WHEN looks = 0 AND refused_ms IS NULL THEN CAST(:first_look AS BIGINT) ELSE allowed END
  AND (looks > 0 OR :has_fees = 1);

-- name: count_fee
-- Count a fee of a partner who was never looked at.
UPDATE first_look_month SET fees = fees + 1
WHERE account_id = :account_id AND program_id = :program_id AND month = :month
  AND EXISTS (SELECT 1 FROM first_look AS f
      WHERE f.id = :look_id AND f.account_id = :account_id AND f.looks = 0);
