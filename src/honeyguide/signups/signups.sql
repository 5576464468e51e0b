-- name: arrival
-- batch: campaign_id
-- Every signup asks this before its first write, so signups that wait for it share it. Mostly nobody listens.
SELECT c.needs_confirmation, CASE WHEN EXISTS (
    SELECT 1 FROM webhook AS w
    WHERE w.account_id = c.account_id AND (w.new_subscriber = 1 OR (CAST(:is_referred AS INTEGER) = 1 AND (
        w.new_referral = 1
           OR w.new_partner_referral = 1
           OR w.reward_unlocked = 1
           OR w.referral_verified = 1
           OR w.referral_rejected = 1
    )))
) THEN 1 ELSE 0 END AS has_listeners
FROM campaign AS c WHERE c.id = :campaign_id AND c.account_id = :account_id;

-- name: set_returned
-- What a platform said about a paid reader first.
UPDATE partner_referral SET returned = :how, returned_ms = :now_ms
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND returned IS NULL;

-- name: with_pending_fee
-- Subscribers of these people whose fee is not decided, the youngest first, as they are locked.
SELECT s.id FROM subscriber AS s
WHERE s.account_id = :account_id AND s.campaign_id = :campaign_id AND s.erased_ms IS NULL
  AND s.person_key {in :person_keys} AND s.partner_campaign_id IS NOT NULL AND s.referral_status = 'pending'
ORDER BY s.id DESC;

-- name: set_confirmed_person
-- touches: changes partner_referral
-- They may have changed to the address since they came. An owner's change alone says nothing of whose it is.
UPDATE partner_referral SET confirmed_person_key = :person_key
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND person_key <> :person_key;

-- name: empty_delayed
-- What waits for an erased subscriber is dropped when it is due. What it says about them goes at once.
UPDATE delayed_action SET arguments = '{}' WHERE account_id = :account_id AND subject_id = :id;
