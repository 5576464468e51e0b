-- name: partner_name
-- The partner whose code somebody came with.
SELECT a.id, a.name, j.ref_code FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
WHERE j.id = :partner_campaign_id AND j.owner_account_id = :account_id;
