-- name: with_joined
-- In both directions, also while the program is off. The other account has the name that this one reads on
-- its pages: a partner the account's, an owner that or the publication's.
SELECT j.id, m.account_id, a.email, CASE WHEN j.owner_account_id = m.account_id THEN 1 ELSE 0 END AS is_owner,
       COALESCE(o.name, CASE WHEN j.account_id = o.id THEN o.email ELSE b.name END) AS other,
       p.id AS program_id, b.name AS program
FROM member AS m
JOIN account AS a ON a.id = m.account_id
JOIN account AS o ON o.id = :account_id
JOIN partner_campaign AS j ON j.account_id IN (m.account_id, o.id)
  AND j.owner_account_id IN (m.account_id, o.id)
  AND j.account_id <> j.owner_account_id
JOIN program AS p ON p.id = j.program_id
JOIN publication AS b ON b.id = p.publication_id
WHERE m.user_id = :user_id AND m.account_id <> :account_id
  AND j.left_ms IS NULL AND j.removed_ms IS NULL AND p.deleted_ms IS NULL AND b.deleted_ms IS NULL
  AND NOT EXISTS (SELECT 1
      FROM partner_block AS x
      WHERE x.account_id = j.owner_account_id AND x.partner_account_id = j.account_id)
ORDER BY m.account_id, is_owner DESC, j.id;
