-- name: set_first_referral
-- Record when the campaign had its first referral.
UPDATE campaign SET first_referral_ms = :now_ms
WHERE account_id = :account_id AND id = :campaign_id AND first_referral_ms IS NULL;

-- name: referral_of
-- The paid referral of a subscriber.
SELECT id, account_id, partner_account_id, program_id, partner_campaign_id, subscriber_id, person_key,
       fee_cents, is_own, budget_cents, cap_cents, arrived_ms
FROM partner_referral WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: set_decided
-- A paid referral is decided.
-- touches: changes partner_referral
UPDATE partner_referral SET decided_ms = :now_ms WHERE account_id = :account_id AND id = :id;

-- name: set_undecided
-- A paid referral is open again.
-- touches: changes partner_referral
UPDATE partner_referral SET decided_ms = NULL WHERE account_id = :account_id AND id = :id;

-- name: decided_ms
-- When a paid referral was decided.
SELECT decided_ms FROM partner_referral WHERE account_id = :account_id AND id = :id;

-- name: count_day
-- Add decisions to the figures of a program's day.
-- touches: changes program_day
{insert program_day: program_id, account_id, day, verified, rejected, reversed}
ON CONFLICT (program_id, day) DO UPDATE SET verified = program_day.verified + excluded.verified,
    rejected = program_day.rejected + excluded.rejected, reversed = program_day.reversed + excluded.reversed;
