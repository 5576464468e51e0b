-- name: decide
-- Set the status of a referral, if it is as it was read.
UPDATE subscriber
SET referral_status = :status, referral_reason = :reason, referral_due_ms = :due_ms,
    referral_behind = :behind,
    decided_by = :decided_by, decided_ms = :now_ms
WHERE id = :id AND campaign_id = :campaign_id;

-- name: due
-- Without those that an operator just decided on the dashboard, which takes a minute. Of those due at the
-- same time, the first to come is verified first. Sorting only what was found leaves the index in order.
SELECT d.account_id, d.campaign_id, d.id FROM (
    SELECT account_id, campaign_id, id, referral_due_ms FROM subscriber
    WHERE referral_status = 'pending'
      AND erased_ms IS NULL
      AND COALESCE(referral_reason, '') <> 'awaiting_confirmation'
      AND referral_due_ms <= :now_ms
      AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
      AND NOT EXISTS (SELECT 1
          FROM delayed_action AS w
          WHERE w.subject_id = subscriber.id AND w.account_id = subscriber.account_id)
    ORDER BY referral_due_ms LIMIT :batch
) AS d ORDER BY d.referral_due_ms, d.id;

-- name: unconfirmed
-- Only of programs with verification settings: who came before those is not rejected for it.
SELECT s.account_id, s.campaign_id, s.id FROM subscriber AS s
WHERE s.referral_status = 'pending' AND s.erased_ms IS NULL AND s.partner_campaign_id IS NOT NULL
  AND s.referral_reason = 'awaiting_confirmation' AND s.received_ms <= :arrived_ms
  AND s.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND EXISTS (SELECT 1
      FROM partner_referral AS r
      WHERE r.account_id = s.account_id AND r.subscriber_id = s.id AND r.rule IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM delayed_action AS w WHERE w.subject_id = s.id AND w.account_id = s.account_id)
ORDER BY s.received_ms
LIMIT :most;

-- name: is_paused
-- Is the account paused?
SELECT 1 FROM account WHERE id = :account_id AND paused_ms IS NOT NULL;
