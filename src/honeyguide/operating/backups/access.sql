-- name: drop_session
DELETE FROM session;

-- name: drop_ticket
DELETE FROM ticket;

-- name: drop_email_change
DELETE FROM email_change;

-- name: drop_remote_fetch
-- It waits for a key again, and goes on where it was.
UPDATE remote_fetch SET secret = '' WHERE secret <> '';

-- name: raise_link_versions
UPDATE subscriber SET link_version = v.link_version
FROM {rows :rows AS v (id TEXT, link_version BIGINT)}
WHERE subscriber.id = v.id AND subscriber.link_version < v.link_version;

-- name: free_email_keys
UPDATE login_user SET email_key = id WHERE id {in :ids};
