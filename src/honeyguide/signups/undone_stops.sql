-- name: came_since
-- Who was rejected on arrival because of the stop.
SELECT r.subscriber_id FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.account_id = :account_id AND r.arrived_ms >= :since_ms AND r.decided_ms = r.arrived_ms
  AND (r.partner_campaign_id = :partner_campaign_id
   OR r.partner_account_id = :partner_account_id
   OR r.program_id = :program_id)
  AND s.account_id = :account_id AND s.referral_reason {in :reasons} AND s.erased_ms IS NULL
ORDER BY r.arrived_ms, r.id;
