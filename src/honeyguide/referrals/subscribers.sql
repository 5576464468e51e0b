-- name: insert
INSERT INTO subscriber (
    id, account_id, campaign_id, email, email_key, person_key, name, ref_code, referrer_code, claimed_code, referrer_id,
    partner_campaign_id, referral_status, referral_reason, referral_due_ms, referral_behind, ip_address, network, user_agent,
    origin, utm_source, utm_campaign, created_ms, received_ms
) VALUES (
    :id, :account_id, :campaign_id, :email, :email_key, :person_key, :name, :ref_code, :referrer_code, :claimed_code, :referrer_id,
    :partner_campaign_id, :referral_status, :referral_reason, :referral_due_ms, :referral_behind, :ip_address, :network, :user_agent,
    :origin, :utm_source, :utm_campaign, :created_ms, :received_ms
);

-- name: find_referrer
SELECT s.id, s.email, s.person_key, s.referrer_id, s.network, s.received_ms, c.screening, c.hold_days, c.needs_confirmation,
       -- Whether anybody wants to hear of it: mostly nobody does, and then nothing need be put together.
       (SELECT COUNT(*) FROM webhook AS w WHERE w.account_id = s.account_id AND w.new_referral = 1) AS listeners,
       (SELECT COUNT(*) FROM reward AS r WHERE r.campaign_id = s.campaign_id AND r.deleted_ms IS NULL) AS milestones
FROM subscriber AS s JOIN campaign AS c ON c.id = s.campaign_id
WHERE s.ref_code = :code AND s.campaign_id = :campaign_id AND s.account_id = :account_id AND s.erased_ms IS NULL;

-- name: closes_loop
-- Walks from the referrer to whoever brought them, and so on: is one of them this very person?
WITH RECURSIVE ancestor (person_key, referrer_id, depth) AS (
    SELECT person_key, referrer_id, 1 FROM subscriber WHERE id = :referrer_id AND campaign_id = :campaign_id
    UNION ALL
    SELECT s.person_key, s.referrer_id, a.depth + 1 FROM subscriber AS s JOIN ancestor AS a ON s.id = a.referrer_id
    WHERE a.depth < 20
)
SELECT COUNT(*) AS n FROM ancestor WHERE person_key = :person_key;

-- name: on_code
-- Everyone who came with this code in the last hour, and from this network in the last day.
SELECT COALESCE(SUM(CASE WHEN received_ms > :hour_ago_ms THEN 1 ELSE 0 END), 0) AS last_hour,
       COALESCE(SUM(CASE WHEN network = CAST(:network AS TEXT) THEN 1 ELSE 0 END), 0) AS from_network
FROM subscriber WHERE campaign_id = :campaign_id AND referrer_code = :code AND received_ms > :day_ago_ms;

-- name: set_person
UPDATE subscriber SET name = :name, email = :email, email_key = :email_key, person_key = :person_key, status = :status
WHERE id = :id AND campaign_id = :campaign_id;

-- name: judge
UPDATE subscriber SET referral_status = :status, referral_reason = :reason, referral_due_ms = :due_ms, referral_behind = :behind,
    decided_by = :decided_by, decided_ms = :now_ms
WHERE id = :id AND campaign_id = :campaign_id;

-- name: erase
UPDATE subscriber SET email = NULL, email_key = NULL, name = NULL, ip_address = NULL, network = NULL, user_agent = NULL,
    utm_source = NULL, utm_campaign = NULL, claimed_code = NULL, erased_ms = :now_ms
WHERE id = :id AND campaign_id = :campaign_id;

-- name: due
SELECT account_id, campaign_id, id FROM subscriber
WHERE referral_status = 'pending' AND erased_ms IS NULL AND COALESCE(referral_reason, '') <> 'awaiting_confirmation'
  AND referral_due_ms <= :now_ms
ORDER BY referral_due_ms LIMIT :batch;
