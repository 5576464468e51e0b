-- name: insert
-- A new member of the account.
-- touches: adds member
{insert member: account_id, user_id, role, created_ms};

-- name: of_account
-- Members of the account, with the time each was last seen.
SELECT m.user_id, u.email, u.name AS user_name, m.role, m.created_ms,
       (SELECT MAX(s.seen_ms) FROM session AS s WHERE s.user_id = m.user_id AND s.account_id = m.account_id
            AND s.expires_ms > :now_ms) AS seen_ms,
       CASE WHEN u.must_prove = 1 AND u.proven_ms IS NULL THEN 1 ELSE 0 END AS is_unproven
FROM member AS m JOIN login_user AS u ON u.id = m.user_id
WHERE m.account_id = :account_id
ORDER BY CASE m.role WHEN 'owner' THEN 0 ELSE 1 END, m.created_ms, m.user_id;

-- name: of_user
-- Accounts that a user is a member of.
SELECT m.account_id, c.id AS campaign_id, m.role, c.name AS newsletter
FROM member AS m
JOIN campaign AS c ON c.account_id = m.account_id
WHERE m.user_id = :user_id
ORDER BY m.created_ms, m.account_id;

-- name: first_owner
-- The member who has owned the account longest.
SELECT user_id FROM member
WHERE account_id = :account_id AND role = 'owner'
ORDER BY created_ms, user_id
LIMIT 1;

-- name: role
-- The role of a member.
SELECT role FROM member WHERE account_id = :account_id AND user_id = :user_id;

-- name: lock_owners
-- Lock the owners, so that the last one cannot leave.
SELECT user_id FROM member WHERE account_id = :account_id AND role = 'owner' ORDER BY user_id;

-- name: set_role
-- Change the role of a member.
UPDATE member SET role = :role WHERE account_id = :account_id AND user_id = :user_id;

-- name: end_invitations
-- Also those of a version that did not note who sent them.
DELETE FROM ticket WHERE account_id = :account_id AND kind = 'invitation' AND used_ms IS NULL
  AND (inviter_id = :user_id OR inviter_id IS NULL);

-- name: pass_contact_on
-- Notifications and statements go to the first owner, and no longer to somebody who was it. Not of an account
-- that is closed: it has none.
UPDATE account SET email = (SELECT u.email FROM member AS m JOIN login_user AS u ON u.id = m.user_id
    WHERE m.account_id = :account_id AND m.role = 'owner' ORDER BY m.created_ms, m.user_id LIMIT 1)
WHERE id = :account_id AND email = (SELECT u.email FROM login_user AS u WHERE u.id = :user_id)
  AND EXISTS (SELECT 1 FROM member AS m WHERE m.account_id = :account_id AND m.role = 'owner');

-- name: delete
-- Remove a member.
DELETE FROM member WHERE account_id = :account_id AND user_id = :user_id;

-- name: move_sessions
-- Let sessions of a removed member go on in another account of theirs.
UPDATE session SET account_id = :other_account_id WHERE account_id = :account_id AND user_id = :user_id;

-- name: end_sessions
-- End the sessions of a removed member.
DELETE FROM session WHERE account_id = :account_id AND user_id = :user_id;
