-- fragment: ticket
id, kind, account_id, user_id, email, as_partner, role, created_ms, expires_ms

-- name: insert
-- A new invitation or other emailed link.
-- touches: adds ticket
{insert ticket:
    id, digest, kind, account_id, user_id, email, as_partner, role, inviter_id,
    created_ms = :now_ms, expires_ms
};

-- fragment: inviter
COALESCE(ticket.inviter_id, (
    SELECT MIN(l.actor_id) FROM change_log AS l
    WHERE l.subject_id = ticket.id AND l.account_id = ticket.account_id AND l.actor_kind = 'member'
      AND l.action = 'invitation.sent'
))

-- name: find
-- Whoever invited must still be an owner: processes of the version before end no invitations when they remove
-- somebody, and note who sent one in the change log only.
SELECT {ticket} FROM ticket
WHERE digest = :digest AND kind = :kind AND used_ms IS NULL AND expires_ms > :now_ms
  AND (account_id IS NULL
   OR {inviter} IS NULL
   OR {inviter} IN (SELECT m.user_id
        FROM member AS m
        WHERE m.account_id = ticket.account_id AND m.role = 'owner'));

-- name: use
-- Spend a link, which works once.
UPDATE ticket SET used_ms = :now_ms, email = NULL WHERE digest = :digest AND used_ms IS NULL;

-- name: of_inviter
-- Open invitations to the account.
SELECT {ticket} FROM ticket
WHERE account_id = :account_id AND kind = 'invitation' AND used_ms IS NULL AND expires_ms > :now_ms
ORDER BY created_ms DESC, id DESC;

-- name: count_open
-- How many invitations are open.
SELECT COUNT(*) FROM ticket
WHERE account_id = :account_id AND kind = 'invitation' AND used_ms IS NULL AND expires_ms > :now_ms;

-- name: end_all
-- Delete all open invitations.
DELETE FROM ticket WHERE account_id = :account_id AND kind = 'invitation' AND used_ms IS NULL;

-- name: withdraw
-- Delete one open invitation.
DELETE FROM ticket WHERE account_id = :account_id AND id = :id AND kind = 'invitation' AND used_ms IS NULL;

-- name: any_account
-- Is there an account yet?
SELECT id FROM account LIMIT 1;

-- name: expired
-- Links that are past their time.
SELECT id FROM ticket WHERE expires_ms <= :now_ms LIMIT :most;

-- name: purge
-- Delete these links.
DELETE FROM ticket WHERE id {in :rows};

-- name: request
-- A request for an emailed link, which is answered later.
-- touches: adds link_request
{insert link_request: id, kind, email, created_ms};

-- name: requested
-- Requests to answer.
SELECT id FROM link_request ORDER BY id LIMIT :most;

-- name: take_request
-- Take a request out of the queue.
DELETE FROM link_request WHERE id = :id RETURNING kind, email;
