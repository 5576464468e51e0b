-- fragment: suspected
campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
  AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated',
      'needs_review')

-- fragment: pending
campaign_id = :campaign_id AND erased_ms IS NULL AND referrer_code IS NOT NULL AND referral_status <> 'verified'
  AND referral_status = 'pending'

-- fragment: columns
referrer_code, referrer_id, partner_campaign_id, referral_reason, network, received_ms

-- fragment: group
SELECT g.referrer_code, g.referrer_id, r.email AS referrer_email, r.name AS referrer_name, COALESCE(a.name, a.email) AS partner_name,
       g.n, g.first_ms, g.last_ms

-- fragment: by_code
SELECT referrer_code, MIN(referrer_id) AS referrer_id, MIN(partner_campaign_id) AS partner_campaign_id, COUNT(*) AS n,
       MIN(received_ms) AS first_ms, MAX(received_ms) AS last_ms

-- fragment: names
LEFT JOIN subscriber AS r ON r.id = g.referrer_id AND r.campaign_id = :campaign_id
LEFT JOIN partner_campaign AS j ON j.id = g.partner_campaign_id AND j.owner_account_id = :account_id
LEFT JOIN account AS a ON a.id = j.account_id

-- fragment: cluster
SELECT referrer_code, referral_reason AS reason, CASE WHEN referral_reason IN ('same_network', 'many_from_one_network') THEN network END
       AS ip_network, COUNT(*) AS n, MIN(received_ms) AS first_ms, MAX(received_ms) AS last_ms

-- name: suspected_groups
-- Only the newest are grouped, so that it takes no longer with a hundred thousand of them.
{group} FROM (
    {by_code} FROM (
        SELECT {columns} FROM subscriber WHERE {suspected} ORDER BY received_ms DESC, id DESC LIMIT :newest
    ) AS newest GROUP BY referrer_code ORDER BY COUNT(*) DESC, MAX(received_ms) DESC, referrer_code LIMIT :most OFFSET :skip
) AS g {names} ORDER BY g.n DESC, g.last_ms DESC, g.referrer_code;

-- name: pending_groups
{group} FROM (
    {by_code} FROM (
        SELECT {columns} FROM subscriber WHERE {pending} ORDER BY received_ms DESC, id DESC LIMIT :newest
    ) AS newest GROUP BY referrer_code ORDER BY COUNT(*) DESC, MAX(received_ms) DESC, referrer_code LIMIT :most OFFSET :skip
) AS g {names} ORDER BY g.n DESC, g.last_ms DESC, g.referrer_code;

-- name: suspected_clusters
{cluster} FROM (
    SELECT {columns} FROM subscriber WHERE {suspected} ORDER BY received_ms DESC, id DESC LIMIT :newest
) AS newest WHERE referrer_code {in :codes} GROUP BY 1, 2, 3 ORDER BY n DESC, last_ms DESC;

-- name: pending_clusters
{cluster} FROM (
    SELECT {columns} FROM subscriber WHERE {pending} ORDER BY received_ms DESC, id DESC LIMIT :newest
) AS newest WHERE referrer_code {in :codes} GROUP BY 1, 2, 3 ORDER BY n DESC, last_ms DESC;

-- name: suspected_of_code
-- COALESCE keeps the partial indexes of whole lists out of it: the one on the code finds these rows at once.
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id AND referrer_code = :code AND received_ms <= :at AND COALESCE(erased_ms, 0) = 0
  AND referral_status = 'pending' AND referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated',
      'needs_review')
  AND (received_ms, id) < (:at, :id) ORDER BY received_ms DESC, id DESC LIMIT :most;

-- name: pending_of_code
SELECT id FROM subscriber
WHERE campaign_id = :campaign_id AND referrer_code = :code AND received_ms <= :at AND COALESCE(erased_ms, 0) = 0
  AND referral_status = 'pending' AND (received_ms, id) < (:at, :id) ORDER BY received_ms DESC, id DESC LIMIT :most;
