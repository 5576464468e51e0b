-- name: campaigns_of
-- An address without a newsletter. One lookup per campaign, because the index is by campaign and address.
SELECT c.account_id, c.id AS campaign_id FROM campaign AS c
WHERE EXISTS (SELECT 1
    FROM subscriber AS s
    WHERE s.campaign_id = c.id AND s.email_key = :email_key AND COALESCE(s.erased_ms, 0) = 0)
ORDER BY c.created_ms, c.id
LIMIT :most;
