-- fragment: email_change
user_id, email, old_digest, new_digest, old_confirmed_ms, new_confirmed_ms, expires_ms

-- name: ask
-- A change of email address that both addresses have to confirm; it replaces an earlier one.
INSERT INTO email_change (user_id, email, old_digest, new_digest, created_ms, expires_ms)
VALUES (:user_id, :email, :old_digest, :new_digest, :now_ms, :expires_ms)
ON CONFLICT (user_id)
DO UPDATE SET email = excluded.email, old_digest = excluded.old_digest, new_digest = excluded.new_digest,
    old_confirmed_ms = NULL, new_confirmed_ms = NULL, created_ms = excluded.created_ms,
    expires_ms = excluded.expires_ms;

-- name: of_user
-- The open change of a user.
SELECT {email_change} FROM email_change WHERE user_id = :user_id AND expires_ms > :now_ms;

-- name: find
-- The open change that an emailed link belongs to.
SELECT {email_change} FROM email_change
WHERE (old_digest = :digest OR new_digest = :digest) AND expires_ms > :now_ms;

-- name: confirm
-- Record which of the two addresses confirmed.
UPDATE email_change SET
    old_confirmed_ms = CASE WHEN old_digest = :digest THEN :now_ms ELSE old_confirmed_ms END,
    new_confirmed_ms = CASE WHEN new_digest = :digest THEN :now_ms ELSE new_confirmed_ms END
WHERE (old_digest = :digest OR new_digest = :digest) AND expires_ms > :now_ms
RETURNING {email_change};

-- name: delete
-- Delete the change, which is done or withdrawn.
DELETE FROM email_change WHERE user_id = :user_id;

-- name: set_email
-- The link that went to the new address proved it.
UPDATE login_user SET email = :email, email_key = :email_key, proven_ms = :now_ms WHERE id = :user_id;

-- name: set_contacts
-- Where notifications went to the old address, in accounts that are theirs.
UPDATE account SET email = :email WHERE email = :old_email AND id IN (
    SELECT m.account_id FROM member AS m WHERE m.user_id = :user_id AND m.role = 'owner'
);

-- name: spend_tickets
-- Delete links for a new password that went to the old address.
DELETE FROM ticket WHERE user_id = :user_id AND kind = 'password_reset';

-- name: expired
-- Changes that nobody confirmed in time.
SELECT new_digest FROM email_change WHERE expires_ms <= :now_ms ORDER BY expires_ms LIMIT :most;

-- name: purge
-- By what changes when it is asked for again.
DELETE FROM email_change WHERE new_digest {in :rows};
