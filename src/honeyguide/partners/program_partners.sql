-- fragment: partner
SELECT j.id, j.account_id, j.owner_account_id, j.program_id, b.name AS publication_name, b.logo_id,
       COALESCE(a.name, a.email) AS name, j.reason_for_recommending, j.created_ms, j.left_ms,
       j.removed_ms, j.removed_reason,
       x.blocked_ms, x.reason AS blocked_reason,
       CASE WHEN p.deleted_ms IS NULL
           AND b.deleted_ms IS NULL
           AND b.status = 'active'
           AND b.enabled_partner_program = 1
           THEN 1 ELSE 0 END AS is_running, p.cpa_cents, p.max_payout_cents,
       (SELECT COUNT(*)
           FROM partner_referral AS r
           WHERE r.partner_campaign_id = j.id AND r.decided_ms IS NULL) AS pending_referrals,
       (SELECT CAST(COALESCE(SUM(r.fee_cents), 0) AS BIGINT) FROM partner_referral AS r
        WHERE r.partner_campaign_id = j.id AND r.decided_ms IS NULL AND r.is_own = 0) AS pending_cents
FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id JOIN program AS p ON p.id = j.program_id
JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN partner_block AS x ON x.account_id = j.owner_account_id AND x.partner_account_id = j.account_id
WHERE j.owner_account_id = :account_id

-- name: count
-- How many partners a program has.
SELECT COUNT(*) AS n FROM partner_campaign WHERE owner_account_id = :account_id AND program_id = :program_id;

-- name: list
-- Partners of a program, the newest first.
{partner} AND j.program_id = :program_id
ORDER BY j.created_ms DESC, j.id DESC
LIMIT :most OFFSET :skip;

-- name: by_id
-- One partner.
{partner} AND j.id = :id;

-- name: lock_programs
-- Lock all programs of the owner.
SELECT id FROM program WHERE account_id = :account_id AND deleted_ms IS NULL ORDER BY id;

-- name: same_owners
-- Accounts that have an owner in common with a partner's; not the one whose program it is.
SELECT DISTINCT s.account_id FROM member AS m JOIN member AS s ON s.user_id = m.user_id AND s.role = 'owner'
WHERE m.account_id = :partner_account_id AND m.role = 'owner' AND s.account_id <> :account_id;

-- name: lock_all
-- Lock what these accounts have in all programs of the owner.
SELECT id FROM partner_campaign
WHERE owner_account_id = :account_id AND account_id {in :accounts}
ORDER BY id;

-- name: remove
-- Remove partners from a program, with the reason.
UPDATE partner_campaign SET removed_ms = :now_ms, removed_reason = :reason
WHERE owner_account_id = :account_id AND id = :id AND removed_ms IS NULL;

-- name: allow
-- Take a removed partner back.
UPDATE partner_campaign
SET removed_ms = NULL, removed_reason = NULL
WHERE owner_account_id = :account_id AND id = :id;

-- name: block
-- Block an account from all programs of the owner.
{insert partner_block: account_id, partner_account_id, reason, blocked_ms = :now_ms}
ON CONFLICT (account_id, partner_account_id) DO NOTHING;

-- name: unblock
-- Unblock an account.
DELETE
FROM partner_block
WHERE account_id = :account_id AND partner_account_id = :partner_account_id
RETURNING blocked_ms;
