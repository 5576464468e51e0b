-- fragment: link
s.ref_code AS code, s.id AS subscriber_id, s.account_id, s.campaign_id, c.slug, c.destination_url

-- name: lookup
-- A public code, so the account comes from the row found. One statement, so that it takes as long for the
-- code of somebody who was subscribed already.
SELECT {link}, NULL AS form_code FROM subscriber AS s JOIN campaign AS c ON c.id = s.campaign_id
WHERE s.ref_code = :code AND s.erased_ms IS NULL
UNION ALL SELECT {link}, f.code AS form_code
FROM form_code AS f JOIN subscriber AS s ON s.id = f.subscriber_id JOIN campaign AS c ON c.id = s.campaign_id
WHERE f.code = :code AND s.erased_ms IS NULL
LIMIT 1;

-- name: lookup_all
-- Public codes, so the account comes from each row found.
SELECT {link} FROM subscriber AS s JOIN campaign AS c ON c.id = s.campaign_id
WHERE s.ref_code {in :codes} AND s.erased_ms IS NULL;

-- name: campaign
-- A public slug, so the account comes from the row found. An account has one campaign.
SELECT c.account_id, c.id AS campaign_id FROM slug AS s
JOIN campaign AS c ON c.account_id = s.account_id
WHERE s.slug = :slug;

-- name: campaign_by_code
-- A public code, so the account comes from the row found. Also of an erased subscriber: their links are still
-- out there.
SELECT account_id, campaign_id FROM subscriber WHERE ref_code = :code;
