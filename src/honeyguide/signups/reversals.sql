-- name: lock_subscribers
-- Lock the subscribers whose charges are reversed.
SELECT s.id FROM subscriber AS s WHERE s.campaign_id = :campaign_id AND s.id IN (
    SELECT r.subscriber_id FROM partner_referral AS r
    WHERE r.account_id = :account_id AND r.program_id = :program_id AND r.id {in :ids}
) ORDER BY s.id DESC;

-- name: of_program
-- Charged referrals of a program that can be reversed.
SELECT r.id, r.subscriber_id, r.partner_account_id, r.partner_campaign_id, r.charged_cents, r.charged_month,
       CASE WHEN r.reversal_id IS NULL THEN 0 ELSE 1 END AS is_reversed,
           CASE WHEN s.erased_ms IS NULL THEN 0 ELSE 1 END AS is_erased
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.account_id = :account_id AND r.program_id = :program_id AND r.id {in :ids};

-- name: reversal_note
-- What the owner wrote about a reversal.
SELECT reversal_note FROM partner_referral
WHERE account_id = :account_id AND id = :id AND reversal_note IS NOT NULL;

-- name: forget_reversal
-- What the owner wrote about them. That the charge was reversed, and why, stays.
UPDATE partner_referral SET reversal_note = NULL WHERE account_id = :account_id AND id = :id;
