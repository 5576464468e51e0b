-- name: due_accounts
-- Accounts whose weekly summary is due.
SELECT id, email, time_zone, weekly_due_ms, weekly_monday, link_version FROM account
WHERE weekly_due_ms <= :now_ms AND paused_ms IS NULL AND closed_ms IS NULL
ORDER BY weekly_due_ms, id
LIMIT :batch;

-- name: move
-- Not if another process did, or if the time zone was changed meanwhile.
UPDATE account SET weekly_due_ms = :due_ms, weekly_monday = :monday
WHERE id = :account_id AND weekly_due_ms = :from_ms AND time_zone = :time_zone;

-- name: waiting_rewards
-- The oldest ones, so that a long list is not read to its end.
SELECT COUNT(*) AS n, MIN(w.earned_ms) AS oldest_ms FROM (
    SELECT earned_ms FROM won_reward
    WHERE account_id = :account_id AND campaign_id = :campaign_id AND status = :status
    ORDER BY earned_ms, id LIMIT :most
) AS w;
