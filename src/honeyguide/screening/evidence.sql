-- name: insert
-- Evidence that was found; what was known already gets its points of today.
-- touches: changes evidence
INSERT INTO evidence (subscriber_id, code, account_id, campaign_id, points, value, found_ms)
SELECT f.subscriber_id, f.code, :account_id, :campaign_id, f.points, f.value, :now_ms
FROM {rows :found AS f (subscriber_id TEXT, code TEXT, points BIGINT, value TEXT)} WHERE true
ON CONFLICT (subscriber_id, code) DO UPDATE SET points = excluded.points, value = excluded.value;

-- name: of_subscribers
-- What speaks for and against the referrals of these subscribers.
SELECT subscriber_id, code, points, value, found_ms FROM evidence
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id {in :ids}
ORDER BY subscriber_id, found_ms, code;

-- name: remove
-- Delete evidence that no longer holds.
DELETE
FROM evidence
WHERE account_id = :account_id AND campaign_id = :campaign_id AND (subscriber_id, code) IN (
    SELECT f.subscriber_id, f.code FROM {rows :gone AS f (subscriber_id TEXT, code TEXT)}
);

-- name: erase
-- Delete the evidence about a subscriber who is erased.
DELETE
FROM evidence
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :subscriber_id;

-- fragment: in_group
SELECT id, email, received_ms, network, status, partner_campaign_id, referral_status, referral_reason,
       CASE WHEN EXISTS (
    SELECT 1 FROM partner_referral AS r
    WHERE r.account_id = subscriber.account_id
      AND r.subscriber_id = subscriber.id
      AND r.person_key <> subscriber.person_key
) THEN 1 ELSE 0 END AS is_changed, user_agent FROM subscriber
WHERE campaign_id = :campaign_id
  AND referrer_code = :code
  AND COALESCE(erased_ms, 0) = 0
  AND received_ms > :since_ms

-- name: group
-- Those who came with the code before a moment and after it, both counted from there.
SELECT * FROM (
    SELECT *
    FROM ({in_group} AND received_ms <= :at_ms ORDER BY received_ms DESC, id DESC LIMIT :before) AS before
    UNION ALL
    SELECT * FROM ({in_group} AND received_ms > :at_ms ORDER BY received_ms, id LIMIT :after) AS after
) AS nearby ORDER BY received_ms, id;

-- name: known_domains
-- Mail domains of the campaign's newest subscribers who came before a moment, whom no partner referred, and
-- who confirmed here or whom the owner or a platform brought. A domain is what comes after the last @.
SELECT domain, COUNT(*) AS n FROM (
    SELECT REPLACE(email_key, RTRIM(email_key, REPLACE(email_key, '@', '')), '') AS domain, referrer_code,
           partner_campaign_id,
           referral_status,
           status,
           origin
    FROM subscriber
    WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND received_ms <= :until_ms
    ORDER BY created_ms DESC, id DESC
    LIMIT :newest
) AS newest
WHERE COALESCE(referrer_code, '') <> :code
  AND partner_campaign_id IS NULL
  AND referral_status = 'verified'
  AND (status = 'confirmed' OR origin IN ('import', 'platform'))
  AND domain IS NOT NULL
GROUP BY domain;

-- name: queue_look
-- A code whose group is to be looked at.
-- touches: adds code_look
{insert code_look: campaign_id, code, account_id, since_ms = :now_ms}
ON CONFLICT (campaign_id, code) DO NOTHING;

-- name: codes_to_look_at
-- Codes whose groups are to be looked at now.
SELECT account_id, campaign_id, code FROM code_look WHERE since_ms <= :until_ms ORDER BY since_ms LIMIT :most;

-- name: end_look
-- Not if somebody came with the code meanwhile.
DELETE
FROM code_look
WHERE campaign_id = :campaign_id AND account_id = :account_id AND code = :code AND NOT EXISTS (
    SELECT 1 FROM subscriber
    WHERE campaign_id = :campaign_id AND referrer_code = :code AND received_ms > :looked_ms
);

-- name: old_values
-- Over all accounts, by age alone.
SELECT e.subscriber_id, e.code FROM evidence AS e JOIN subscriber AS s ON s.id = e.subscriber_id
WHERE e.value IS NOT NULL AND e.found_ms < :before_ms AND s.referral_status <> 'pending'
  AND COALESCE(s.decided_ms, s.received_ms) < :before_ms
ORDER BY e.found_ms
LIMIT :most;

-- name: forget_values
-- Delete what old evidence was found in.
UPDATE evidence SET value = NULL WHERE (subscriber_id, code) IN (
    SELECT r.subscriber_id, r.code FROM {rows :rows AS r (subscriber_id TEXT, code TEXT)}
);
