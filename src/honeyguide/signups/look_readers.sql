-- fragment: known
-- A click and the time of a confirmation are known of signups with a code: evidence is about referrals.
s.email, s.received_ms AS arrived_ms,
(SELECT e.found_ms FROM evidence AS e WHERE e.subscriber_id = s.id AND e.code = 'confirmed') AS confirmed_ms,
CASE WHEN s.referrer_code IS NULL OR s.origin NOT IN ('signup', 'magic', 'embed') THEN NULL
    WHEN EXISTS (SELECT 1 FROM evidence AS e WHERE e.subscriber_id = s.id AND e.code = 'no_click') THEN 0
    ELSE 1 END AS had_click,
CASE WHEN s.status = 'unsubscribed' AND COALESCE(s.referral_reason, '') <> 'rejected_by_hand'
    THEN 1 ELSE 0 END AS has_left,
CASE WHEN s.must_confirm = 1 AND s.status = 'active'
    OR EXISTS (SELECT 1 FROM evidence AS e WHERE e.subscriber_id = s.id AND e.code = 'confirmed')
    THEN 1 ELSE 0 END AS has_time,
CASE WHEN s.origin NOT IN ('import', 'platform') AND s.received_ms - s.created_ms < 3600000
    THEN 1 ELSE 0 END AS has_hour,
s.network

-- name: readers
-- The newest readers of a partner who have met the rule, or left since. Those whom the owner refused still
-- say who the partner is; they did not leave by themselves.
SELECT {known}
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.account_id = :account_id AND r.look_id = :look_id AND s.email IS NOT NULL
  AND (s.referral_status = 'verified' OR s.referral_reason {in :by_readers}
      OR s.referral_reason = 'rejected_by_hand'
      OR s.referral_status = 'pending'
      AND s.referral_reason IN ('holding_period', 'awaiting_first_look', 'needs_review'))
ORDER BY r.arrived_ms DESC, r.id DESC
LIMIT :most;

-- name: own_readers
-- The newsletter's newest readers who came through no partner, were there a fortnight before, and confirmed,
-- were imported or synced: anybody could have made up the others. Who unsubscribed had our email.
SELECT {known} FROM (
    SELECT id, email, created_ms, received_ms, status, referral_reason, referrer_code, origin, must_confirm,
        network
    FROM subscriber AS o
    WHERE o.campaign_id = :campaign_id AND o.erased_ms IS NULL AND o.referral_status = 'verified'
      AND o.partner_campaign_id IS NULL AND o.received_ms <= :until_ms
      AND (o.status = 'confirmed' OR o.origin IN ('import', 'platform')
          OR o.status = 'unsubscribed' AND o.must_confirm = 0)
    ORDER BY o.created_ms DESC, o.id DESC
    LIMIT :most
) AS s;

-- name: clicks
-- Clicks on links to the program, and signups through them on forms, of the partner and of all others.
SELECT k.is_theirs, CAST(SUM(k.clicks) AS BIGINT) AS clicks, CAST(SUM(k.signups) AS BIGINT) AS signups
FROM (
    SELECT CASE WHEN j.id = :look_id OR EXISTS (SELECT 1 FROM partner_referral AS o
               WHERE o.account_id = :account_id AND o.partner_campaign_id = j.id AND o.look_id = :look_id)
               THEN 1 ELSE 0 END AS is_theirs,
           COALESCE((SELECT SUM(d.n) FROM click_day AS d WHERE d.account_id = :account_id
               AND d.target_id = j.id AND d.code = '' AND d.day_ms >= :since_ms), 0) AS clicks,
           (SELECT COUNT(*) FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
               WHERE r.account_id = :account_id AND r.partner_campaign_id = j.id
                 AND r.arrived_ms >= :since_ms AND s.origin IN ('signup', 'embed')) AS signups
    FROM partner_campaign AS j
    WHERE j.owner_account_id = :account_id
      AND j.program_id = (SELECT f.program_id FROM first_look AS f
          WHERE f.account_id = :account_id AND f.id = :look_id)
) AS k
GROUP BY k.is_theirs;
