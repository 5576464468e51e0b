-- name: names
-- The logo of the partner's own pages, or else that of their first publication.
SELECT j.id, j.account_id, COALESCE(a.name, a.email) AS name, COALESCE(b.logo_id, (
        SELECT p.logo_id FROM publication AS p
        WHERE p.account_id = j.account_id AND p.deleted_ms IS NULL AND p.status = 'active'
        ORDER BY p.created_ms, p.id
        LIMIT 1
    )) AS logo_id
FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
LEFT JOIN campaign AS c ON c.account_id = j.account_id
LEFT JOIN campaign_brand AS b ON b.campaign_id = c.id AND b.account_id = c.account_id
WHERE j.owner_account_id = :account_id AND j.id {in :ids};
