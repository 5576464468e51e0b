-- fragment: certificate
id, account_id, campaign_id, import_id, next_part, tally, document, started_ms, made_ms

-- name: insert
-- A certificate to be made.
{insert certificate: id, account_id, campaign_id, import_id, tally, started_ms = :now_ms};

-- name: running
-- Over all accounts; each row found has its account.
SELECT id FROM certificate WHERE made_ms IS NULL ORDER BY started_ms LIMIT :most;

-- name: by_running_id
-- The job knows the id from the list of all accounts.
SELECT {certificate} FROM certificate WHERE id = :id AND made_ms IS NULL;

-- name: by_id
-- One certificate.
SELECT {certificate} FROM certificate WHERE account_id = :account_id AND id = :id;

-- name: newest_of_import
-- The newest certificate of an import.
SELECT {certificate} FROM certificate
WHERE account_id = :account_id AND import_id = :import_id
ORDER BY started_ms DESC, id DESC
LIMIT 1;

-- name: of_account
-- Certificates that are made, the newest first.
SELECT {certificate} FROM certificate
WHERE account_id = :account_id AND made_ms IS NOT NULL
ORDER BY started_ms DESC, id DESC
LIMIT :most;

-- name: next_part
-- The next part of the file to compare.
SELECT n, lines FROM import_part
WHERE account_id = :account_id AND import_id = :import_id AND n >= :n
ORDER BY n
LIMIT 1;

-- name: advance
-- Two processes may compare the same part; the first one counts.
UPDATE certificate SET next_part = :next_part, tally = :tally
WHERE account_id = :account_id AND id = :id AND next_part = :n AND made_ms IS NULL;

-- name: finish
-- Store the finished certificate.
UPDATE certificate
SET document = :document, made_ms = :now_ms
WHERE account_id = :account_id AND id = :id AND made_ms IS NULL;

-- name: delete
-- Delete a certificate.
DELETE FROM certificate WHERE account_id = :account_id AND id = :id;

-- name: people
-- `messages` are emails and events about those whom the import added, while it ran.
SELECT s.id, s.email_key, s.created_ms, s.status, s.referrer_id, s.referral_status,
       s.referrals_verified AS verified, s.adjustments,
       s.left_program_ms,
       CASE WHEN s.origin = 'import' AND s.received_ms >= :began_ms
           THEN (SELECT COUNT(*)
               FROM event AS e
               WHERE e.subscriber_id = s.id AND e.created_ms BETWEEN :began_ms AND :ended_ms)
              + (SELECT COUNT(*) FROM letter AS l
                 WHERE l.account_id = s.account_id
                   AND l.about_id = s.id
                   AND l.created_ms BETWEEN :began_ms AND :ended_ms)
           ELSE 0 END AS messages
FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.email_key {in :keys}
  AND COALESCE(s.erased_ms, 0) = 0;

-- name: reported
-- What the import reported about these lines.
SELECT line, kind FROM import_finding
WHERE account_id = :account_id AND import_id = :import_id AND line BETWEEN :first AND :last
ORDER BY line, kind;

-- name: refused
-- Which of these lines the import refused.
SELECT line FROM import_error
WHERE account_id = :account_id AND import_id = :import_id AND line BETWEEN :first AND :last;
