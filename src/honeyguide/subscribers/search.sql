-- Each list finds a page of ids first. `of_ids` then loads what is shown of each subscriber.

-- fragment: matches
-- Every condition of a filter. An empty text lets everybody through, as do 0 for `least`, -1 for
-- `most_referrals` and the ends of time. This reads the campaign's subscribers until the page is full. The
-- text is looked for last, because that costs most. `is_advocate` adds nothing to `least`, but lets
-- PostgreSQL read the index of advocates instead.
s.campaign_id = :campaign_id AND s.erased_ms IS NULL
  AND s.created_ms >= :from_ms AND s.created_ms < :to_ms
  AND (:status = '' OR s.status = :status)
  AND (:referral = '' OR s.referrer_code IS NOT NULL AND s.referral_status = :referral)
  AND (:referred_by = '' OR (s.referrer_code IS NULL) = (:referred_by IN ('nobody', 'unknown'))
       AND (:referred_by IN ('nobody', 'unknown', 'anyone')
        OR (s.partner_campaign_id IS NOT NULL) = (:referred_by = 'partner')))
  AND (:referred_by <> 'unknown' OR {came_with_unknown_code})
  AND (:least = 0 OR s.is_advocate = 1 AND s.referrals_verified >= :least)
  AND (:most_referrals < 0 OR s.referrals_verified <= :most_referrals)
  AND (:origin = '' OR s.origin = :origin OR :origin = 'not-imported' AND s.origin <> 'import')
  AND (:utm_source = '' OR s.utm_source = :utm_source)
  AND (:utm_campaign = '' OR s.utm_campaign = :utm_campaign)
  AND (:tag = ''
       OR s.id IN (SELECT t.subscriber_id
           FROM subscriber_tag AS t
           WHERE t.campaign_id = :campaign_id AND t.tag = :tag))
  AND (:reward = ''
       OR s.id IN (SELECT w.subscriber_id
           FROM won_reward AS w
           WHERE w.campaign_id = :campaign_id AND w.reward_id = :reward))
  AND (:text = ''
   OR s.ref_code = :text
   OR LOWER(s.claimed_code) = :text
   OR s.email_key LIKE :in_email ESCAPE '\'
       OR s.id IN (SELECT c.subscriber_id
           FROM subscriber_code AS c
           WHERE c.campaign_id = :campaign_id AND c.folded = :text)
       OR {name_matches})

-- fragment: came_with_unknown_code
-- No subscriber of the campaign ever had it: the codes of people who were erased or left the program are
-- known.
s.claimed_code IS NOT NULL AND TRIM(s.claimed_code) <> '' AND NOT EXISTS (
    SELECT 1 FROM subscriber AS c
    WHERE c.ref_code = LOWER(TRIM(s.claimed_code)) AND c.campaign_id = s.campaign_id
)

-- fragment: name_matches
-- Only names with other letters than ASCII need the slower pattern. SQLite's LIKE ignores the case of ASCII
-- letters.
s.name LIKE :in_name ESCAPE '\'
   OR octet_length(s.name) > length(s.name)
  AND s.name GLOB '*' || :spellings || '*'

-- fragment: name_matches (postgres)
lower(s.name) LIKE :in_name ESCAPE '\' OR octet_length(s.name) > length(s.name) AND s.name ~ :spellings

-- name: newest
-- Subscribers who match, the newest first.
SELECT s.created_ms AS at, s.id FROM subscriber AS s
WHERE {matches} AND (s.created_ms, s.id) < (:at, :id)
ORDER BY s.created_ms DESC, s.id DESC
LIMIT :most;

-- name: oldest
-- Subscribers who match, the oldest first.
SELECT s.created_ms AS at, s.id FROM subscriber AS s
WHERE {matches} AND (s.created_ms, s.id) > (:at, :id)
ORDER BY s.created_ms, s.id
LIMIT :most;

-- name: best
-- CROSS JOIN: SQLite then begins with the advocates, in their order.
SELECT a.verified AS at, a.subscriber_id AS id FROM advocate AS a CROSS JOIN subscriber AS s
WHERE s.id = a.subscriber_id
  AND {matches}
  AND a.campaign_id = :campaign_id
  AND a.verified > 0
  AND (a.verified, a.subscriber_id) < (:at, :id)
ORDER BY a.verified DESC, a.subscriber_id DESC
LIMIT :most;

-- name: fewest
-- Advocates who match, those with fewest referrals first.
SELECT a.verified AS at, a.subscriber_id AS id FROM advocate AS a CROSS JOIN subscriber AS s
WHERE s.id = a.subscriber_id
  AND {matches}
  AND a.campaign_id = :campaign_id
  AND a.verified > 0
  AND (a.verified, a.subscriber_id) > (:at, :id)
ORDER BY a.verified, a.subscriber_id
LIMIT :most;

-- name: count_unknown_codes
-- How many subscribers came with a code that nobody holds, up to a limit.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM subscriber AS s
    WHERE s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0 AND {came_with_unknown_code}
    LIMIT :most
) AS found;

-- name: of_unknown_code
-- Subscribers who came with a code that nobody holds.
SELECT s.id FROM subscriber AS s
WHERE s.campaign_id = :campaign_id
  AND COALESCE(s.erased_ms, 0) = 0
  AND s.claimed_code = :code
  AND {came_with_unknown_code}
ORDER BY s.id
LIMIT :most;

-- name: judged
-- Pending or rejected referrals, the newest first.
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id
  AND erased_ms IS NULL
  AND referrer_code IS NOT NULL
  AND referral_status <> 'verified'
  AND referral_status = :status AND (received_ms, id) < (:at, :id)
ORDER BY received_ms DESC, id DESC
LIMIT :most;

-- name: suspected
-- Pending referrals with evidence against them.
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
  AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated',
      'needs_review')
  AND (received_ms, id) < (:at, :id)
ORDER BY received_ms DESC, id DESC
LIMIT :most;

-- name: of_ids
-- What the list shows of these subscribers.
SELECT {s.subscriber}, r.email AS referrer_email, r.name AS referrer_name
FROM subscriber AS s LEFT JOIN subscriber AS r ON r.id = s.referrer_id AND r.campaign_id = s.campaign_id
WHERE s.id {in :ids} AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0;

-- name: by_start_of_email
-- Subscribers whose email address begins like this.
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id AND email_key >= :first AND email_key < :last AND COALESCE(erased_ms, 0) = 0
ORDER BY email_key
LIMIT :most;

-- name: among_best
-- Looks at so many advocates and no further, whatever it finds.
SELECT s.id FROM (
    SELECT a.subscriber_id, a.verified FROM advocate AS a
    WHERE a.campaign_id = :campaign_id AND a.verified > 0
    ORDER BY a.verified DESC, a.subscriber_id DESC
    LIMIT :looked_at
) AS b CROSS JOIN subscriber AS s
WHERE s.id = b.subscriber_id AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0
  AND (s.ref_code = :text OR s.email_key LIKE :in_email ESCAPE '\' OR {name_matches})
ORDER BY b.verified DESC, s.id DESC
LIMIT :most;

-- name: among_newest
-- Looks at so many subscribers and no further, whatever it finds.
SELECT s.id FROM (
    SELECT id, ref_code, email_key, name, created_ms FROM subscriber
    WHERE campaign_id = :campaign_id AND erased_ms IS NULL ORDER BY created_ms DESC, id DESC LIMIT :looked_at
) AS s
WHERE s.ref_code = :text OR s.email_key LIKE :in_email ESCAPE '\' OR {name_matches}
ORDER BY s.created_ms DESC, s.id DESC
LIMIT :most;
