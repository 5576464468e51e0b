-- fragment: live
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
WHERE p.account_id = :account_id AND p.deleted_ms IS NULL AND b.deleted_ms IS NULL

-- name: of_account
-- Programs of the account whose referrals do not count, and why.
SELECT p.id, CASE WHEN b.status <> 'active' THEN 'do not count: the program has ended'
    WHEN b.enabled_partner_program = 0 THEN 'do not count: the program is paused'
        ELSE 'count'
        END AS state {live};

-- name: set_stopped
-- Record since when referrals of a program do not count, if they do not.
UPDATE program SET stopped_ms = :now_ms WHERE account_id = :account_id AND id = :id;

-- name: undone
-- Programs that were stopped lately and go on.
SELECT p.id, p.stopped_ms {live}
  AND b.status = 'active' AND b.enabled_partner_program = 1 AND p.stopped_ms >= :since_ms;
