-- name: insert
-- A new subscriber.
-- touches: adds subscriber, reads integration, reads subscriber_code
-- touches: triggers subscriber, triggers advocate, triggers count_note, triggers subscriber_change
-- batch: referrer_id
{insert subscriber:
    id, account_id, campaign_id, email, email_key, person_key, name, ref_code, status, must_confirm,
    referrer_code,
    claimed_code, referrer_id, partner_campaign_id, referral_status, referral_reason, referral_due_ms,
    referral_behind, ip_address, network, user_agent, origin, utm_source, utm_campaign, language,
    created_ms, received_ms
};

-- name: come_again
-- Through whom somebody comes whose claim before was put aside.
UPDATE subscriber
SET {assign name, referral_status, referral_reason, referral_due_ms, referral_behind, ip_address, network,
    user_agent, origin, utm_source, utm_campaign, language, received_ms}
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND referrer_code IS NULL;

-- name: refer
-- With the code the referral is counted.
UPDATE subscriber SET {assign referrer_code, referrer_id, partner_campaign_id}
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND referrer_code IS NULL;

-- fragment: takes_part
s.campaign_id = :campaign_id
  AND s.account_id = :account_id
  AND COALESCE(s.erased_ms, 0) = 0
  AND s.left_program_ms IS NULL

-- name: find_referrer
-- The holder of a code, with what decides about their referrals.
-- batch: code
SELECT s.id, s.ref_code, s.email, s.person_key, s.referrer_id, s.network, s.received_ms, c.screening,
       c.hold_days,
       -- What may follow from it: mostly nothing does, and then nothing need be loaded.
       CASE
           WHEN EXISTS (SELECT 1
               FROM reward AS r
               WHERE r.campaign_id = s.campaign_id AND r.deleted_ms IS NULL) THEN 1
           ELSE 0
           END
           AS has_rewards,
       CASE WHEN c.first_referral_ms IS NULL THEN 1 ELSE 0 END AS is_first,
       c.sends_friend_joined + c.sends_one_more AS sends_friend_emails,
       CASE
           WHEN EXISTS (SELECT 1 FROM screening_entry AS e WHERE e.campaign_id = s.campaign_id) THEN 1
           ELSE 0
           END AS has_lists
FROM subscriber AS s JOIN campaign AS c ON c.id = s.campaign_id
WHERE s.ref_code = :code AND {takes_part};

-- name: find_referrer_ids
-- The holders of these codes.
SELECT s.ref_code, s.id FROM subscriber AS s WHERE s.ref_code {in :codes} AND {takes_part};

-- name: set_person
-- Change the email address, name or status of a subscriber.
UPDATE subscriber
SET name = :name, email = :email, email_key = :email_key, person_key = :person_key, status = :status,
    unsubscribed_ms = CASE
        WHEN :status <> 'unsubscribed' THEN NULL
        WHEN status = 'unsubscribed' THEN unsubscribed_ms
        ELSE :now_ms
        END
WHERE id = :id AND campaign_id = :campaign_id;

-- name: erase
-- Delete everything personal of a subscriber; the row stays for the counts.
UPDATE subscriber
SET email = NULL, email_key = NULL, name = NULL, ip_address = NULL, network = NULL, user_agent = NULL,
    utm_source = NULL, utm_campaign = NULL, claimed_code = NULL, adjustments = 0, shows_name = 0,
    left_program_ms = NULL, language = NULL,
    erased_ms = :now_ms
WHERE id = :id AND campaign_id = :campaign_id;
