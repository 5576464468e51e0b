-- fragment: newest
-- Those who came last with a code before somebody, and since the owner last sent all emails of the code.
SELECT s.must_confirm, s.status, CASE WHEN EXISTS (
    SELECT 1 FROM evidence AS e
    WHERE e.subscriber_id = s.id AND e.account_id = :account_id AND e.points >= :points
) THEN 1 ELSE 0 END AS is_suspicious
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
COALESCE(SUM(CASE
            WHEN (n.must_confirm = 1 AND n.status = 'active' OR n.status = 'confirmed') THEN n.is_suspicious
            ELSE 0
            END),
    0)
    AS suspicious

-- name: counts
-- How many emails for confirmation a code caused lately, and how many were followed.
SELECT {counts} FROM ({newest}) AS n;

-- name: arrival
-- What decides whether an email for confirmation waits.
SELECT
    (SELECT b.look_ms
        FROM confirmation_brake AS b
        WHERE b.campaign_id = :campaign_id AND b.account_id = :account_id AND b.code = :code)
        AS look_ms,
    (SELECT b.released_ms
        FROM confirmation_brake AS b
        WHERE b.campaign_id = :campaign_id AND b.account_id = :account_id AND b.code = :code)
        AS released_ms,
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
DO UPDATE SET look_ms = COALESCE(confirmation_brake.look_ms, excluded.look_ms);

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
-- Cancel emails that waited for a week.
UPDATE letter SET
    held_code = NULL, error = 'Cancelled: it waited for a week.', body_text = NULL, body_html = NULL
WHERE account_id = :account_id AND held_code = :code AND id IN (
    {oldest}
);

-- name: cancel_old (postgres)
-- Cancel emails that waited for a week.
UPDATE letter SET
    held_code = NULL, error = 'Cancelled: it waited for a week.', body_text = NULL, body_html = NULL
WHERE account_id = :account_id AND held_code = :code AND id = ANY (ARRAY (
    {oldest}
));

-- name: waiting
-- How many emails wait for a code, and since when.
SELECT COUNT(*) AS n, MIN(created_ms) AS since_ms FROM (
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
