-- fragment: stock
codes_left, waiting, stock_base, stock_told

-- name: reserve
-- Takes a code from a pool without a queue. The row count says whether there was one; the row stays locked
-- until the commit.
UPDATE reward
SET codes_left = codes_left - 1
WHERE account_id = :account_id AND id = :id AND codes_left > waiting
RETURNING {stock};

-- name: reserve_for_waiting
-- Reserve a code for an advocate who waits.
UPDATE reward SET codes_left = codes_left - 1, waiting = waiting - 1
WHERE account_id = :account_id AND id = :id AND codes_left > 0 AND waiting > 0
RETURNING {stock};

-- name: queue
-- One more advocate waits for a code.
UPDATE reward SET waiting = waiting + 1 WHERE account_id = :account_id AND id = :id
RETURNING {stock};

-- name: give
-- Runs while the reward's row is locked, so nobody else looks for a code of this pool. The condition on
-- won_id outside the subselect is a second guard.
UPDATE coupon SET won_id = :earned_id WHERE account_id = :account_id AND won_id IS NULL AND id = (
    SELECT id FROM coupon WHERE reward_id = :reward_id AND won_id IS NULL ORDER BY id LIMIT 1
) RETURNING code;

-- name: tell
-- Record at which stock the operator was notified.
UPDATE reward SET stock_told = :level WHERE account_id = :account_id AND id = :id;

-- name: unqueue
-- Fewer advocates wait for a code.
UPDATE reward SET waiting = waiting - :n WHERE account_id = :account_id AND id = :id;

-- name: add
-- Add coupon codes.
INSERT INTO coupon (id, account_id, reward_id, code)
SELECT c.id, :account_id, :reward_id, c.code FROM {rows :coupons AS c (id TEXT, code TEXT)} WHERE true
ON CONFLICT (reward_id, code) DO NOTHING;

-- name: refill
-- Count the codes that were added.
UPDATE reward
SET codes_total = codes_total + :added, codes_left = codes_left + :added, stock_base = codes_left + :added,
    stock_told = 0
WHERE account_id = :account_id AND id = :id;
