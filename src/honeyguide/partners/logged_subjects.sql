-- name: names
-- What the subjects of logged changes are called, each looked up in its own table by its key. To the owner of
-- a program, a partner campaign is the partner; to the partner, it is the program.
SELECT id, name FROM reward WHERE account_id = :account_id AND id {in :ids}
UNION ALL SELECT w.id, r.name FROM won_reward AS w JOIN reward AS r ON r.id = w.reward_id
    WHERE w.account_id = :account_id AND w.id {in :ids}
UNION ALL SELECT id, name FROM publication WHERE account_id = :account_id AND id {in :ids}
UNION ALL SELECT p.id, b.name FROM program AS p JOIN publication AS b ON b.id = p.publication_id
    WHERE p.account_id = :account_id AND p.id {in :ids}
UNION ALL SELECT j.id, b.name FROM partner_campaign AS j JOIN program AS p ON p.id = j.program_id
    JOIN publication AS b ON b.id = p.publication_id WHERE j.account_id = :account_id AND j.id {in :ids}
UNION ALL SELECT j.id, COALESCE(a.name, a.email) AS name
FROM partner_campaign AS j
JOIN account AS a ON a.id = j.account_id
    WHERE j.owner_account_id = :account_id AND j.account_id <> :account_id AND j.id {in :ids}
UNION ALL SELECT id, url AS name FROM webhook WHERE account_id = :account_id AND id {in :ids}
UNION ALL SELECT id, name FROM api_key WHERE account_id = :account_id AND id {in :ids}
UNION ALL SELECT id, host AS name FROM link_host WHERE account_id = :account_id AND id {in :ids}
UNION ALL SELECT id, month AS name FROM payout WHERE account_id = :account_id AND id {in :ids}
UNION ALL SELECT u.id, COALESCE(u.name, u.email) AS name FROM member AS m
JOIN login_user AS u ON u.id = m.user_id
    WHERE m.account_id = :account_id AND m.user_id {in :ids}
UNION ALL SELECT id, COALESCE(name, email) AS name FROM subscriber
    WHERE account_id = :account_id AND id {in :ids} AND email IS NOT NULL;
