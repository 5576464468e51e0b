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

-- name: count_of_program
-- How many paid referrals a program has.
SELECT COUNT(*) AS n FROM partner_referral WHERE account_id = :account_id AND program_id = :program_id;

-- fragment: paid
r.fee_cents, r.charged_cents, r.charged_month, r.uncharged_reason, r.reversal_reason, r.reversal_note,
r.decided_ms, r.is_own, COALESCE(a.name, a.email) AS partner_name, s.email

-- fragment: listed
SELECT {paid}, r.id, r.subscriber_id, s.name, r.partner_campaign_id, s.referral_status AS status,
       s.referral_reason AS reason, s.referral_due_ms AS due_ms, r.arrived_ms
FROM partner_referral AS r
JOIN subscriber AS s ON s.id = r.subscriber_id
JOIN account AS a ON a.id = r.partner_account_id
WHERE r.account_id = :account_id AND r.program_id = :program_id

-- name: some_of_program
-- These paid referrals of a program.
{listed} AND r.id {in :ids} ORDER BY r.arrived_ms DESC, r.id DESC;

-- name: list_of_program
-- Paid referrals of a program, the newest first.
{listed} ORDER BY r.arrived_ms DESC, r.id DESC LIMIT :most OFFSET :skip;

-- name: sent_by
-- The partner who sent a subscriber, and the fee.
SELECT {paid}, r.program_id, b.name AS publication_name, r.id AS referral_id,
       (SELECT MAX(month) FROM period WHERE closed_ms IS NOT NULL) AS last_closed
FROM partner_referral AS r
JOIN subscriber AS s ON s.id = r.subscriber_id
JOIN program AS p ON p.id = r.program_id
JOIN publication AS b ON b.id = p.publication_id JOIN account AS a ON a.id = r.partner_account_id
WHERE r.account_id = :account_id AND r.subscriber_id = :subscriber_id;

-- name: partner_names
-- The partners who sent these subscribers.
SELECT r.subscriber_id, COALESCE(a.name, a.email) AS name
FROM partner_referral AS r JOIN account AS a ON a.id = r.partner_account_id
WHERE r.account_id = :account_id AND r.subscriber_id {in :ids};

-- name: empty_delayed
-- What waits for an erased subscriber is dropped when it is due. What it says about them goes at once.
UPDATE delayed_action SET arguments = '{}' WHERE account_id = :account_id AND subject_id = :id;
