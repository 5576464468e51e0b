-- name: due_accounts
SELECT id, email, time_zone, weekly_due_ms, weekly_monday FROM account
WHERE weekly_due_ms <= :now_ms ORDER BY weekly_due_ms, id LIMIT :batch;

-- name: move
-- Not if another process did, or if the time zone was changed meanwhile.
UPDATE account SET weekly_due_ms = :due_ms, weekly_monday = :monday
WHERE id = :account_id AND weekly_due_ms = :from_ms AND time_zone = :time_zone;

-- name: waiting_rewards
-- The oldest ones, so that a long list is not read to its end.
SELECT COUNT(*) AS n, MIN(w.earned_ms) AS oldest_ms FROM (
    SELECT earned_ms FROM won_reward WHERE account_id = :account_id AND campaign_id = :campaign_id AND status = :status
    ORDER BY earned_ms, id LIMIT :most
) AS w;

-- name: first_verified_ms
-- The earliest end of a holding period among the oldest referrals to review.
SELECT MIN(r.referral_due_ms) AS due_ms FROM (
    SELECT referral_due_ms FROM subscriber
    WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
      AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated',
      'needs_review')
    ORDER BY received_ms, id LIMIT 100
) AS r;
