-- name: insert
-- A new session.
-- touches: adds session
{insert session:
    id, user_id, account_id, digest, user_agent, address, is_kept, expires_ms,
    created_ms = :now_ms, seen_ms = :now_ms, verified_ms = :now_ms, second_factor_ms
};

-- name: find
-- The session of a cookie, with its user, account and role.
SELECT s.id AS session_id, s.digest, s.created_ms, s.seen_ms, s.is_kept, s.verified_ms, s.second_factor_ms,
       u.id AS user_id, u.email, u.name AS user_name, m.role, a.id AS account_id, a.name, a.is_admin,
       a.needs_second_factor,
       CASE WHEN f.user_id IS NULL THEN 0 ELSE 1 END AS has_second_factor, c.id AS campaign_id,
           c.name AS campaign_name,
       a.time_zone, a.paused_ms, a.closes_ms
FROM session AS s JOIN login_user AS u ON u.id = s.user_id
JOIN member AS m ON m.account_id = s.account_id AND m.user_id = s.user_id
JOIN account AS a ON a.id = s.account_id JOIN campaign AS c ON c.account_id = a.id
LEFT JOIN second_factor AS f ON f.user_id = u.id
WHERE s.digest = :digest AND s.expires_ms > :now_ms;

-- name: touch
-- Record that a session was used, which prolongs it.
-- touches: changes session
UPDATE session SET seen_ms = :now_ms, expires_ms = :expires_ms WHERE user_id = :user_id AND id = :id;

-- name: shift
-- Move all sessions in time, with the test clock.
UPDATE session
SET created_ms = created_ms + :by_ms, seen_ms = seen_ms + :by_ms, expires_ms = expires_ms + :by_ms,
    verified_ms = verified_ms + :by_ms, second_factor_ms = second_factor_ms + :by_ms;

-- name: save_proof
-- Record when the password and the second factor were entered.
UPDATE session
SET verified_ms = :verified_ms, second_factor_ms = :second_factor_ms
WHERE user_id = :user_id AND id = :id;

-- name: switch
-- Move a session to another account of the user.
UPDATE session SET account_id = :account_id WHERE user_id = :user_id AND id = :id;

-- name: of_user
-- Open sessions of a user.
SELECT id, user_agent, address, created_ms, seen_ms, is_kept FROM session
WHERE user_id = :user_id AND expires_ms > :now_ms
ORDER BY seen_ms DESC, id DESC;

-- name: end
-- End one session.
DELETE FROM session WHERE user_id = :user_id AND id = :id;

-- name: end_by_digest
-- End the session of a cookie.
DELETE FROM session WHERE digest = :digest;

-- name: end_others
-- End all sessions of a user except this one.
DELETE FROM session WHERE user_id = :user_id AND id <> :id;

-- name: ended
-- Sessions that are past their time.
SELECT id FROM session WHERE expires_ms <= :now_ms LIMIT :most;

-- name: purge
-- Delete these sessions.
DELETE FROM session WHERE id {in :rows};
