-- fragment: pending
SELECT r.subscriber_id FROM partner_referral AS r
WHERE r.account_id = :account_id AND r.partner_campaign_id {in :partner_campaigns} AND r.decided_ms IS NULL

-- name: lock_pending
-- Lock pending referrals of a removed partner.
SELECT s.id FROM subscriber AS s WHERE s.campaign_id = :campaign_id AND s.id IN (
    {pending} ORDER BY r.subscriber_id LIMIT :most
) ORDER BY s.id DESC;

-- name: end_later
-- With this reason the end of the holding period, which is now, rejects it.
UPDATE subscriber SET referral_reason = :reason, referral_behind = NULL, referral_due_ms = :now_ms
WHERE account_id = :account_id
  AND campaign_id = :campaign_id
  AND referral_status = 'pending'
  AND id IN ({pending})
  AND NOT (id {in :at_once});
