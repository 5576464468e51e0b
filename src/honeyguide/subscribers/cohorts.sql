-- People by the day they joined. Kinds and their keys:
--   group         imported, by_subscribers, by_partners or not_referred
--   referrer      the subscriber who referred them, by id
--   reason        why their referral was rejected
--   origin, utm_source, utm_campaign
-- Imported people are in the group `imported` and nowhere else.

-- fragment: joined_on_days (sqlite)
-- Begins with the days and looks each up in `subscriber_list`. A plain join would read the whole campaign.
{rows :days AS d (day TEXT, since_ms BIGINT, until_ms BIGINT)} CROSS JOIN subscriber AS s
WHERE s.campaign_id = :campaign_id
  AND s.erased_ms IS NULL
  AND s.created_ms >= d.since_ms
  AND s.created_ms < d.until_ms
  AND s.account_id = :account_id

-- fragment: joined_on_days (postgres)
-- The same; OFFSET 0 keeps PostgreSQL from making it a plain join, and the order makes it choose the index
-- before it is analyzed.
{rows :days AS d (day TEXT, since_ms BIGINT, until_ms BIGINT)} CROSS JOIN LATERAL (
    SELECT * FROM subscriber AS j WHERE j.campaign_id = :campaign_id AND j.erased_ms IS NULL
      AND j.created_ms >= d.since_ms AND j.created_ms < d.until_ms ORDER BY j.created_ms, j.id OFFSET 0
) AS s WHERE s.account_id = :account_id

-- fragment: counts
COUNT(*) AS joined, CAST(SUM(p.verified) AS BIGINT) AS verified, CAST(SUM(p.pending) AS BIGINT) AS pending,
CAST(SUM(p.rejected) AS BIGINT) AS rejected, CAST(SUM(p.followed) AS BIGINT) AS followed,
CAST(SUM(CASE WHEN p.followed = 1 AND p.days_until_left <= 30 THEN 1 ELSE 0 END) AS BIGINT) AS left_30,
CAST(SUM(CASE WHEN p.followed = 1 AND p.days_until_left <= 90 THEN 1 ELSE 0 END) AS BIGINT) AS left_90

-- name: count
-- `days_until_left` is rounded up: those who left exactly 30 days after they joined have 30. Followed are
-- those who were added on time, since unsubscribes are recorded, and whose referral was not rejected.
WITH people AS MATERIALIZED (
    SELECT d.day, s.origin, COALESCE(s.utm_source, '') AS utm_source,
           COALESCE(s.utm_campaign, '') AS utm_campaign,
           s.referrer_id, COALESCE(s.referral_reason, '') AS reason,
           CASE
               WHEN s.origin = 'import' THEN 'imported'
               WHEN s.partner_campaign_id IS NOT NULL THEN 'by_partners'
                WHEN s.referrer_code IS NOT NULL THEN 'by_subscribers' ELSE 'not_referred' END AS kind,
           CASE WHEN s.referrer_code IS NOT NULL
               AND s.referral_status = 'verified' THEN 1 ELSE 0 END AS verified,
           CASE WHEN s.referrer_code IS NOT NULL
               AND s.referral_status = 'pending' THEN 1 ELSE 0 END AS pending,
           CASE WHEN s.referrer_code IS NOT NULL
               AND s.referral_status = 'rejected' THEN 1 ELSE 0 END AS rejected,
           CASE WHEN s.created_ms >= COALESCE((
                         SELECT CAST(value AS BIGINT) FROM instance
                         WHERE name = 'unsubscribes_recorded_since_ms'
                     ), 0) AND s.received_ms - s.created_ms <= 86400000
                     AND (s.referrer_code IS NULL OR s.referral_status <> 'rejected')
                     AND (s.status <> 'unsubscribed' OR s.unsubscribed_ms IS NOT NULL) THEN 1
                         ELSE 0
                         END AS followed,
           (s.unsubscribed_ms - s.created_ms + 86399999) / 86400000 AS days_until_left
    FROM {joined_on_days}
)
SELECT 'group' AS kind, p.day, p.kind AS key, {counts} FROM people AS p GROUP BY p.day, p.kind
UNION ALL
SELECT 'referrer' AS kind, p.day, p.referrer_id AS key, {counts} FROM people AS p
WHERE p.kind = 'by_subscribers' AND p.referrer_id IS NOT NULL
GROUP BY p.day, p.referrer_id
UNION ALL
SELECT 'reason' AS kind, p.day, p.reason AS key, {counts} FROM people AS p
WHERE p.kind <> 'imported' AND p.rejected = 1
GROUP BY p.day, p.reason
UNION ALL
SELECT 'origin' AS kind, p.day, p.origin AS key, {counts} FROM people AS p
WHERE p.kind <> 'imported'
GROUP BY p.day, p.origin
UNION ALL
SELECT 'utm_source' AS kind, p.day, p.utm_source AS key, {counts}
FROM people AS p
WHERE p.kind <> 'imported'
GROUP BY p.day, p.utm_source
UNION ALL
SELECT 'utm_campaign' AS kind, p.day, p.utm_campaign AS key, {counts} FROM people AS p
WHERE p.kind <> 'imported'
GROUP BY p.day, p.utm_campaign;

-- name: slice_end
-- When the first person joined who is not part of the slice; nothing if all are.
SELECT created_ms FROM subscriber
WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND account_id = :account_id
  AND created_ms >= :since_ms AND created_ms < :until_ms
ORDER BY created_ms, id
LIMIT 1 OFFSET :rows;

-- name: people_up_to
-- How many people joined on these days, counted up to :most.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM {joined_on_days} LIMIT :most
) AS joined;

-- name: changed
-- UTC days with a change that is not counted yet: those marked, and those that the page index has not
-- applied.
SELECT day_ms FROM cohort_change WHERE account_id = :account_id AND campaign_id = :campaign_id
UNION
SELECT created_ms - created_ms % 86400000 AS day_ms FROM count_note
WHERE account_id = :account_id
  AND owner_id = :campaign_id
  AND (n_all <> 0 OR verified <> 0 OR pending <> 0 OR rejected <> 0 OR n_advocates = 0);

-- name: state
-- In which time zone the counts are, and since when.
SELECT zone, built_ms FROM cohort_state WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: due_campaigns
-- Over all accounts: those that chose another zone, or have changes and were not counted lately. This looks
-- at every campaign.
SELECT c.account_id, c.id AS campaign_id, a.time_zone AS zone, s.zone AS built_zone
FROM campaign AS c
JOIN account AS a ON a.id = c.account_id
LEFT JOIN cohort_state AS s ON s.campaign_id = c.id
WHERE s.zone <> a.time_zone
   OR (s.built_ms IS NULL OR s.built_ms <= :before_ms)
  AND EXISTS (SELECT 1 FROM cohort_change AS m WHERE m.campaign_id = c.id)
ORDER BY COALESCE(s.built_ms, 0), c.id
LIMIT :most;

-- name: next_changes
-- Days whose counts are to be made again.
SELECT day_ms, n FROM cohort_change
WHERE account_id = :account_id AND campaign_id = :campaign_id
ORDER BY day_ms
LIMIT :most;

-- name: mark
-- A day whose counts are to be made again.
-- touches: changes cohort_change
{insert cohort_change: campaign_id, day_ms, account_id, n = 1}
ON CONFLICT (campaign_id, day_ms) DO UPDATE SET n = cohort_change.n + 1;

-- name: mark_all
-- All days are to be counted again.
INSERT INTO cohort_change (campaign_id, day_ms, account_id, n)
SELECT campaign_id, day_ms, account_id, 1 FROM campaign_day
WHERE account_id = :account_id AND campaign_id = :campaign_id
ON CONFLICT (campaign_id, day_ms) DO UPDATE SET n = cohort_change.n + 1;

-- name: set_state
-- Record the time zone of the counts.
{insert cohort_state: campaign_id, account_id, zone, built_ms}
ON CONFLICT (campaign_id) DO UPDATE SET zone = excluded.zone, built_ms = excluded.built_ms;

-- name: delete_days
-- Delete the counts of some days.
DELETE
FROM cohort_count
WHERE account_id = :account_id AND campaign_id = :campaign_id AND kind {in :kinds} AND day {in :days};

-- name: insert_counts
-- Count the subscribers of some days.
INSERT INTO cohort_count (campaign_id, kind, day, key, account_id, joined, verified, pending, rejected,
    followed, left_30, left_90)
SELECT :campaign_id, c.kind, c.day, c.key, :account_id, c.joined, c.verified, c.pending, c.rejected,
       c.followed, c.left_30, c.left_90
FROM {rows :counts AS c (
    kind TEXT, day TEXT, key TEXT, joined BIGINT, verified BIGINT, pending BIGINT, rejected BIGINT,
    followed BIGINT, left_30 BIGINT, left_90 BIGINT
)};

-- name: unmark
-- A day that changed again meanwhile stays marked.
DELETE FROM cohort_change WHERE account_id = :account_id AND campaign_id = :campaign_id AND EXISTS (
    SELECT 1 FROM {rows :changes AS c (day_ms BIGINT, n BIGINT)}
    WHERE c.day_ms = cohort_change.day_ms AND c.n = cohort_change.n
);

-- name: erase
-- What an erased person told us may be a key. Their day is counted again soon.
DELETE FROM cohort_count WHERE account_id = :account_id AND campaign_id = :campaign_id
  AND kind {in :kinds} AND day {in :days} AND key {in :keys};

-- name: joined
-- The newest first. Reads at most :most_read rows of the index `subscriber_list`, imported ones included.
SELECT j.id, j.created_ms, j.referral_status AS status, COALESCE(j.referral_reason, '') AS reason,
       CASE WHEN j.referrer_code IS NULL THEN 0 ELSE 1 END AS is_referred, j.partner_campaign_id,
       CASE WHEN r.erased_ms IS NULL THEN r.id END AS referrer_id, r.name AS referrer_name,
           r.email AS referrer_email, r.referrer_id AS above_id,
       r.partner_campaign_id AS above_partner_id
FROM (
    SELECT id, created_ms, origin, referral_status, referral_reason, referrer_code, referrer_id,
           partner_campaign_id
    FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND account_id = :account_id
      AND created_ms >= :since_ms AND created_ms < :until_ms
    ORDER BY created_ms DESC, id DESC
    LIMIT :most_read
) AS j LEFT JOIN subscriber AS r ON r.id = j.referrer_id AND r.account_id = :account_id
WHERE j.origin <> 'import'
ORDER BY j.created_ms DESC, j.id DESC
LIMIT :most;

-- name: newest
-- When the newest subscriber joined.
SELECT created_ms FROM subscriber
WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND account_id = :account_id
ORDER BY created_ms DESC, id DESC
LIMIT 1;
