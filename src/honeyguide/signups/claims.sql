-- fragment: referral
referral_status, referral_reason, referral_due_ms, referral_behind, decided_by, decided_ms, origin

-- fragment: code
referrer_code, referrer_id, partner_campaign_id

-- fragment: person
name, ip_address, network, user_agent, utm_source, utm_campaign, claimed_code

-- fragment: shown
FROM subscriber WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id

-- name: insert_row
-- The row that keeps the referral of a claim that is put aside. Nothing in it is personal.
INSERT INTO subscriber (
    id, account_id, campaign_id, person_key, ref_code, status, must_confirm, {code}, {referral}, created_ms,
    received_ms, erased_ms
)
SELECT :claim_id, account_id, campaign_id, person_key, :ref_code, status, must_confirm, {code}, {referral},
       received_ms, received_ms, :now_ms
{shown};

-- name: insert
-- What the signup said about the person.
INSERT INTO claim (id, account_id, campaign_id, subscriber_id, {person}, due_ms)
SELECT :claim_id, account_id, campaign_id, id, {person},
       CASE WHEN referral_status = 'pending' THEN CAST(:due_ms AS BIGINT) END
{shown};

-- name: move_referral
-- A partner's referral belongs to the row that keeps its status.
UPDATE partner_referral SET subscriber_id = :new_id
WHERE account_id = :account_id AND subscriber_id = :old_id;

-- name: move_evidence
-- Evidence is about one referral.
UPDATE evidence SET subscriber_id = :new_id
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :old_id;

-- name: move_decisions
-- Decisions are about one referral.
UPDATE referral_decision SET subscriber_id = :new_id
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :old_id;

-- name: unrefer
-- The referral was put aside.
UPDATE subscriber
SET referrer_code = NULL, referrer_id = NULL, partner_campaign_id = NULL, referral_status = 'verified',
    referral_reason = NULL, referral_due_ms = NULL, referral_behind = NULL, decided_by = NULL,
    decided_ms = NULL, claimed_code = NULL
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: take_back
-- What a claim that was put aside says, without its code.
UPDATE subscriber SET ({person}, {referral}, received_ms) = (
    SELECT COALESCE(k.name, subscriber.name), k.ip_address, k.network, k.user_agent, k.utm_source,
           k.utm_campaign, k.claimed_code, r.referral_status, r.referral_reason, r.referral_due_ms,
           r.referral_behind, r.decided_by, r.decided_ms, r.origin, r.received_ms
    FROM claim AS k JOIN subscriber AS r ON r.id = k.id
    WHERE k.account_id = :account_id AND k.id = :claim_id
)
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: refer_back
-- With the code the referral is counted.
UPDATE subscriber SET ({code}) = (
    SELECT {code} FROM subscriber AS r
    WHERE r.account_id = :account_id AND r.campaign_id = :campaign_id AND r.id = :claim_id
)
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: lock_row
-- Lock the row that keeps the referral of a claim.
SELECT id FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :claim_id AND erased_ms IS NOT NULL;

-- name: delete
-- A claim that is shown again, or whose subscriber is erased.
DELETE FROM claim WHERE account_id = :account_id AND id = :claim_id;

-- name: delete_row
-- The row of a claim that is shown again.
DELETE FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :claim_id AND erased_ms IS NOT NULL;

-- name: of_subscriber
-- Claims that are not shown, the newest first.
SELECT k.id, r.referrer_code, r.referrer_id, r.referral_status, r.referral_reason, r.received_ms, k.name,
       k.ip_address, k.user_agent, k.utm_source, k.utm_campaign, k.claimed_code,
       COALESCE(a.name, a.email, f.name, f.email) AS referred_by
FROM claim AS k JOIN subscriber AS r ON r.id = k.id
LEFT JOIN subscriber AS f ON f.id = r.referrer_id
LEFT JOIN partner_campaign AS j ON j.id = r.partner_campaign_id LEFT JOIN account AS a ON a.id = j.account_id
WHERE k.account_id = :account_id AND k.subscriber_id = :subscriber_id
ORDER BY r.received_ms DESC, k.id DESC;

-- name: due
-- Claims whose referral nobody confirmed in time.
SELECT account_id, campaign_id, id, subscriber_id FROM claim
WHERE due_ms <= :now_ms AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
ORDER BY due_ms
LIMIT :most;

-- name: set_decided
-- The referral of a claim is decided.
UPDATE claim SET due_ms = NULL WHERE account_id = :account_id AND id = :claim_id;

-- name: forget
-- What claims say about a person, once they cannot come back.
UPDATE claim
SET name = NULL, ip_address = NULL, network = NULL, user_agent = NULL, utm_source = NULL,
    utm_campaign = NULL, claimed_code = NULL
WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

-- name: recommender
-- Whose link a subscriber came by.
SELECT a.name AS partner, r.name AS friend
FROM subscriber AS s
LEFT JOIN partner_campaign AS j ON j.id = s.partner_campaign_id
LEFT JOIN account AS a ON a.id = j.account_id
LEFT JOIN subscriber AS r ON r.id = s.referrer_id
  AND r.shows_name = 1 AND r.left_program_ms IS NULL AND r.erased_ms IS NULL
WHERE s.account_id = :account_id AND s.campaign_id = :campaign_id AND s.id = :id;
