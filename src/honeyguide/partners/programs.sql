-- fragment: program
p.rule, p.screening, p.is_verification_chosen,
(SELECT c.screening FROM campaign AS c WHERE c.account_id = p.account_id) AS campaign_level, p.first_look,
p.id, p.account_id, p.publication_id, b.name AS publication_name, b.description AS publication_description,
b.categories, {p.fields}, b.logo_id, b.status AS publication_status, b.enabled_partner_program, p.created_ms,
COALESCE(p.deleted_ms, b.deleted_ms) AS deleted_ms

-- fragment: of_account
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
WHERE p.account_id = :account_id

-- fragment: live
p.deleted_ms IS NULL AND b.deleted_ms IS NULL

-- fragment: unsettled
-- A referral is pending, or a month in which it was charged is open.
(EXISTS (SELECT 1
        FROM partner_referral AS r
        WHERE r.account_id = :account_id AND r.program_id = p.id AND r.decided_ms IS NULL)
    OR EXISTS (SELECT 1
        FROM budget AS g
        WHERE g.account_id = :account_id AND g.program_id = p.id AND g.spent_cents > 0
        AND NOT EXISTS (SELECT 1 FROM period AS m WHERE m.month = g.month AND m.closed_ms IS NOT NULL)))

-- name: insert
-- A new program.
{insert program: id, account_id, publication_id, {fields}, rule, screening, is_verification_chosen,
first_look, created_ms = :now_ms};

-- name: by_id
-- One program that is not deleted.
SELECT {program} {of_account} AND {live}
  AND p.id = :id;

-- name: live_or_unsettled
-- One program that is not deleted or still has referrals to decide.
SELECT {program} {of_account} AND ({live} OR {unsettled})
  AND p.id = :id;

-- name: list_unsettled
-- Deleted programs that still have referrals to decide.
SELECT {program} {of_account} AND NOT ({live}) AND {unsettled}
ORDER BY p.created_ms DESC, p.id DESC;

-- name: lock
-- Lock a program.
SELECT id FROM program WHERE account_id = :account_id AND id = :id AND deleted_ms IS NULL;

-- name: count
-- How many programs the owner has.
SELECT COUNT(*) AS n FROM program AS p JOIN publication AS b ON b.id = p.publication_id
WHERE p.account_id = :account_id AND {live};

-- name: of_publications
-- Programs of these publications.
SELECT {program} {of_account} AND {live}
  AND p.publication_id {in :ids};

-- name: list
-- Programs of the owner, the newest first.
SELECT {program} {of_account} AND {live}
ORDER BY p.created_ms DESC, p.id DESC
LIMIT :most OFFSET :skip;

-- name: update
-- Change a program.
UPDATE program SET {assign {fields}}
WHERE account_id = :account_id AND id = :id;

-- name: delete
-- Delete a program; its row stays, because charges refer to it.
UPDATE program SET deleted_ms = :now_ms WHERE account_id = :account_id AND id = :id;
