-- name: drop_session
-- End all sessions.
DELETE FROM session;

-- name: drop_ticket
-- Delete all invitations and emailed links.
DELETE FROM ticket;

-- name: drop_email_change
-- Withdraw all changes of email addresses.
DELETE FROM email_change;

-- name: drop_remote_fetch
-- It waits for a key again, and goes on where it was.
UPDATE remote_fetch SET secret = '' WHERE secret <> '';

-- name: raise_link_versions
-- End personal links that were ended after the backup.
UPDATE subscriber SET link_version = v.link_version
FROM {rows :rows AS v (id TEXT, link_version BIGINT)}
WHERE subscriber.id = v.id AND subscriber.link_version < v.link_version;

-- name: free_email_keys
-- Free the email addresses of these users, so that nobody logs in with them.
UPDATE login_user SET email_key = id WHERE id {in :ids};
