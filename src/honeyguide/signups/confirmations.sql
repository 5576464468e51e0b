-- fragment: newest
-- Those who came last with a code before somebody, and since the owner last sent all emails of the code.
SELECT s.must_confirm, s.status
FROM subscriber AS s
WHERE s.campaign_id = :campaign_id
  AND s.referrer_code = :code
  AND s.received_ms > :since_ms
  AND s.received_ms <= :received_ms
  AND (s.received_ms, s.id) < (:received_ms, :subscriber_id)
  AND s.received_ms > COALESCE((
      SELECT b.released_ms FROM confirmation_brake AS b
      WHERE b.campaign_id = :campaign_id AND b.account_id = :account_id AND b.code = :code
  ), 0)
ORDER BY s.received_ms DESC, s.id DESC LIMIT :newest

-- fragment: counts
COALESCE(SUM(CASE WHEN n.must_confirm = 1 AND n.status = 'active' THEN 1 ELSE 0 END), 0) AS unconfirmed,
COALESCE(SUM(CASE WHEN n.status = 'confirmed' THEN 1 ELSE 0 END), 0) AS confirmed,
CASE WHEN EXISTS (SELECT 1 FROM flooded_account AS f WHERE f.account_id = :account_id) THEN 1 ELSE 0 END
    AS is_account_flooded

-- name: counts
-- How many emails for confirmation a code caused lately, and how many were followed.
SELECT {counts} FROM ({newest}) AS n;

-- name: flood
-- How many of a code's emails wait, and what decides whether it is flooded.
SELECT
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM letter AS l
        WHERE l.account_id = :account_id AND l.held_code = :code
        LIMIT :counted
    ) AS held)
        AS waiting,
    {counts}
FROM ({newest}) AS n;

-- name: arrival
-- What decides whether an email for confirmation waits.
SELECT
    (SELECT b.look_ms
        FROM confirmation_brake AS b
        WHERE b.campaign_id = :campaign_id AND b.account_id = :account_id AND b.code = :code)
        AS look_ms,
    CASE WHEN EXISTS (
        SELECT 1 FROM letter AS l
        WHERE l.account_id = :account_id AND l.about_id = :subscriber_id AND l.held_code = :code
    ) THEN 1 ELSE 0 END AS is_queued,
    {counts}
FROM ({newest}) AS n;

-- name: put_on
-- touches: changes confirmation_brake
-- It locks the row, so that a job cannot find nothing waiting and end the brake while the email is being
-- queued.
{insert confirmation_brake: campaign_id, code, account_id, look_ms}
ON CONFLICT (campaign_id, code)
DO UPDATE SET look_ms = CASE WHEN confirmation_brake.look_ms < excluded.look_ms
    THEN confirmation_brake.look_ms ELSE excluded.look_ms END;

-- name: due_codes
-- Codes whose waiting emails are to be looked at.
SELECT account_id, campaign_id, code FROM confirmation_brake WHERE look_ms <= :until_ms
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
ORDER BY look_ms
LIMIT :most;

-- name: lock
-- Lock the brake on a code.
SELECT look_ms, released_ms FROM confirmation_brake
WHERE campaign_id = :campaign_id AND account_id = :account_id AND code = :code;

-- name: first
-- The email that waits longest.
SELECT s.received_ms, s.id AS subscriber_id FROM letter AS l JOIN subscriber AS s ON s.id = l.about_id
WHERE l.account_id = :account_id AND l.held_code = :code AND s.campaign_id = :campaign_id
ORDER BY l.created_ms, l.id
LIMIT 1;

-- fragment: oldest
SELECT id FROM letter WHERE account_id = :account_id AND held_code = :code AND created_ms <= :until_ms
ORDER BY created_ms, id LIMIT :most

-- name: release (sqlite)
-- Its date is that of the release: mail programs would sort it by the other. The condition is repeated, so
-- that what was canceled meanwhile is not sent.
UPDATE letter SET due_ms = :now_ms, created_ms = :now_ms, held_code = NULL
WHERE account_id = :account_id AND held_code = :code AND id IN (
    {oldest}
);

-- name: release (postgres)
-- ARRAY() runs the subselect once, whatever the planner believes about the table.
UPDATE letter SET due_ms = :now_ms, created_ms = :now_ms, held_code = NULL
WHERE account_id = :account_id AND held_code = :code AND id = ANY (ARRAY (
    {oldest}
));

-- name: cancel_old (sqlite)
-- Cancel emails that waited for as long as their referral lives.
UPDATE letter SET
    held_code = NULL, error = 'Cancelled: it waited for 30 days.', body_text = NULL, body_html = NULL
WHERE account_id = :account_id AND held_code = :code AND id IN (
    {oldest}
);

-- name: cancel_old (postgres)
-- Cancel emails that waited for as long as their referral lives.
UPDATE letter SET
    held_code = NULL, error = 'Cancelled: it waited for 30 days.', body_text = NULL, body_html = NULL
WHERE account_id = :account_id AND held_code = :code AND id = ANY (ARRAY (
    {oldest}
));

-- name: compared
-- Emails that wait, with the IP network of who asked for each.
SELECT l.id, s.network FROM letter AS l JOIN subscriber AS s ON s.id = l.about_id
WHERE l.account_id = :account_id AND l.held_code = :code AND l.has_worked = :has_worked
  AND l.created_ms >= :from_ms AND l.created_ms <= :until_ms AND s.campaign_id = :campaign_id
ORDER BY l.created_ms
LIMIT :most;

-- name: release_chosen
-- Let the emails go that chance chose.
UPDATE letter SET due_ms = :now_ms, created_ms = :now_ms, held_code = NULL
WHERE account_id = :account_id AND held_code IS NOT NULL AND id {in :ids};

-- name: set_work
-- A browser worked for the email that waits for this subscriber.
UPDATE letter SET has_worked = 1
WHERE account_id = :account_id AND about_id = :subscriber_id AND held_code IS NOT NULL;

-- name: waiting
-- How many emails wait for a code, since when, and when the newest of them was asked for.
SELECT COUNT(*) AS n, MIN(created_ms) AS since_ms, (
    SELECT MAX(created_ms) FROM letter WHERE account_id = :account_id AND held_code = :code
) AS newest_ms FROM (
    SELECT created_ms FROM letter
    WHERE account_id = :account_id AND held_code = :code
    ORDER BY created_ms
    LIMIT :most
) AS oldest;

-- name: set_look
-- When to look at a code again.
UPDATE confirmation_brake
SET look_ms = :look_ms
WHERE campaign_id = :campaign_id AND account_id = :account_id AND code = :code;

-- name: set_released
-- The operator lets the emails of a code go.
UPDATE confirmation_brake SET released_ms = :now_ms, look_ms = :now_ms
WHERE campaign_id = :campaign_id AND account_id = :account_id AND code = :code;

-- fragment: held
FROM letter AS l
WHERE l.account_id = :account_id AND l.held_code = b.code AND l.created_ms > COALESCE(b.released_ms, 0)

-- name: held
-- Without what is about to be sent because the owner asked for it.
SELECT code, n, since_ms FROM (
    SELECT b.code, (
        SELECT COUNT(*) FROM (
            SELECT 1 {held} LIMIT :counted
        ) AS counted
    ) AS n, (
        SELECT MIN(l.created_ms) {held}
    ) AS since_ms
    FROM confirmation_brake AS b
    WHERE b.campaign_id = :campaign_id
      AND b.account_id = :account_id
      AND b.look_ms IS NOT NULL
      AND (:code = '' OR b.code = :code)
) AS codes WHERE since_ms IS NOT NULL
ORDER BY since_ms, code
LIMIT :most;

-- name: release_one
-- Let one email go.
UPDATE letter SET due_ms = :now_ms, created_ms = :now_ms, held_code = NULL
WHERE account_id = :account_id AND about_id = :subscriber_id AND held_code IS NOT NULL;

-- name: cancel_one
-- Cancel an email that is not needed any more.
-- touches: changes letter
UPDATE letter SET
    held_code = NULL, error = 'Cancelled: the referral was rejected or the subscriber needs no confirmation.',
    body_text = NULL, body_html = NULL
WHERE account_id = :account_id AND about_id = :subscriber_id AND held_code = :code;
