-- name: decide
-- Set the status of a referral, if it is as it was read.
UPDATE subscriber
SET referral_status = :status, referral_reason = :reason, referral_due_ms = :due_ms,
    referral_behind = :behind,
    decided_by = :decided_by, decided_ms = :now_ms
WHERE id = :id AND campaign_id = :campaign_id;

-- fragment: is_live
s.referral_due_ms <= :now_ms
  AND s.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM delayed_action AS w WHERE w.subject_id = s.id AND w.account_id = s.account_id)

-- name: due
-- Without those that an operator just decided on the dashboard, which takes a minute. Of those due at the
-- same time, the first to come is verified first. Sorting only what was found leaves the index in order.
SELECT d.account_id, d.campaign_id, d.id FROM (
    SELECT * FROM (
        SELECT s.account_id, s.campaign_id, s.id, s.referral_due_ms FROM subscriber AS s
        WHERE s.referral_status = 'pending'
          AND s.erased_ms IS NULL
          AND COALESCE(s.referral_reason, '') <> 'awaiting_confirmation'
          AND {is_live}
        ORDER BY s.referral_due_ms LIMIT :batch
    ) AS a
    UNION ALL
    -- Erased by the owner's team, which ends no fee.
    SELECT s.account_id, s.campaign_id, s.id, s.referral_due_ms
    FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
    WHERE r.team_act IS NOT NULL AND r.decided_ms IS NULL AND s.referral_status = 'pending'
      AND s.erased_ms IS NOT NULL AND {is_live}
) AS d
ORDER BY d.referral_due_ms, d.id
LIMIT :batch;

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
