-- name: pending_fee
-- The fee of a pending referral, if it has one.
SELECT hold_until_ms FROM partner_referral
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND decided_ms IS NULL AND is_own = 0
  AND fee_cents > 0;

-- name: set_act
-- What a member of the owner's team did before the fee was decided.
UPDATE partner_referral SET team_act = :act
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND decided_ms IS NULL;

-- fragment: erased
SELECT s.id FROM subscriber AS s
WHERE s.account_id = :account_id AND s.campaign_id = :campaign_id AND s.id {in :ids}
  AND s.erased_ms IS NOT NULL
  AND s.id IN (SELECT r.subscriber_id FROM partner_referral AS r
      WHERE r.account_id = :account_id AND r.team_act IS NOT NULL AND r.decided_ms IS NULL)

-- name: erased
-- Of erased subscribers, those whose fee the owner has yet to decide.
{erased};

-- name: lock_erased
-- Lock one of them.
{erased} ORDER BY s.id DESC;
