-- name: names
SELECT j.id, j.account_id, COALESCE(a.name, a.email) AS name FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
WHERE j.owner_account_id = :account_id AND j.id {in :ids};
