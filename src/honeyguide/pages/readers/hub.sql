-- name: campaigns_of
-- An address typed by a visitor who does not say which newsletter. One look per campaign: the index is by campaign and address.
SELECT c.account_id, c.id AS campaign_id FROM campaign AS c
WHERE EXISTS (SELECT 1 FROM subscriber AS s WHERE s.campaign_id = c.id AND s.email_key = :email_key AND COALESCE(s.erased_ms, 0) = 0)
ORDER BY c.created_ms, c.id LIMIT :most;
