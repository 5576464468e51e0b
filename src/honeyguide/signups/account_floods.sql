-- name: changes
-- Accounts that are flooded and not marked, or marked and no longer flooded.
SELECT account_id, is_flooded FROM (
    SELECT n.account_id,
           CASE WHEN SUM(n.unconfirmed) > :unconfirmed AND SUM(n.unconfirmed) > (:one_in - 1) * (
               SELECT COUNT(*) FROM subscriber AS s JOIN campaign AS c ON c.id = s.campaign_id
               WHERE c.account_id = n.account_id AND s.created_ms > :since_ms AND s.erased_ms IS NULL
                 AND s.status = 'confirmed'
           ) THEN 1 ELSE 0 END AS is_flooded
    FROM (
        SELECT c.account_id, (
            SELECT COUNT(*) FROM subscriber AS s
            WHERE s.campaign_id = c.id AND s.must_confirm = 1 AND s.erased_ms IS NULL
              AND s.created_ms > :since_ms AND s.status = 'active'
        ) AS unconfirmed
        FROM campaign AS c
    ) AS n
    GROUP BY n.account_id
) AS found
WHERE is_flooded <> CASE WHEN EXISTS (
    SELECT 1 FROM flooded_account AS f WHERE f.account_id = found.account_id
) THEN 1 ELSE 0 END
ORDER BY account_id
LIMIT :most;

-- name: begin
-- The account's forms ask for work from now on.
{insert flooded_account: account_id, since_ms = :now_ms} ON CONFLICT (account_id) DO NOTHING;

-- name: end
-- The account is flooded no longer.
DELETE FROM flooded_account WHERE account_id = :account_id;
