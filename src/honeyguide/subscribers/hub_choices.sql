-- name: of_subscriber
-- What a subscriber chose on their page.
SELECT s.shows_name, COALESCE(a.on_leaderboard, 0) AS on_leaderboard, s.left_program_ms,
       e.stopped_ms
FROM subscriber AS s LEFT JOIN advocate AS a ON a.subscriber_id = s.id
LEFT JOIN email_stop AS e ON e.subscriber_id = s.id
WHERE s.account_id = :account_id AND s.campaign_id = :campaign_id AND s.id = :id;

-- name: set_shows_name
-- May friends see the subscriber's name?
UPDATE subscriber
SET shows_name = :shows_name
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: join_leaderboard
-- Before the first referral there is no row yet.
INSERT INTO advocate (subscriber_id, account_id, campaign_id, verified, on_leaderboard)
SELECT id, account_id, campaign_id, referrals_verified, 1 FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id
ON CONFLICT (subscriber_id) DO UPDATE SET on_leaderboard = 1;

-- name: quit_leaderboard
-- Take the subscriber off the leaderboard.
UPDATE advocate
SET on_leaderboard = 0
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :id;

-- name: set_left_program
-- The subscriber leaves the program, or comes back.
UPDATE subscriber SET left_program_ms = :left_program_ms
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: leaders
-- Advocates on the leaderboard.
SELECT a.subscriber_id, s.name, a.verified FROM advocate AS a JOIN subscriber AS s ON s.id = a.subscriber_id
WHERE a.account_id = :account_id AND a.campaign_id = :campaign_id AND a.on_leaderboard = 1 AND a.verified > 0
  AND s.status <> 'unsubscribed'
ORDER BY a.verified DESC, a.subscriber_id DESC
LIMIT :most;

-- name: inviter_name
-- The name of a referrer who lets friends see it.
SELECT name FROM subscriber WHERE account_id = :account_id AND campaign_id = :campaign_id AND ref_code = :code
  AND shows_name = 1 AND left_program_ms IS NULL AND COALESCE(erased_ms, 0) = 0;
