-- fragment: fetch
f.import_id, f.account_id, i.campaign_id, f.base_url, f.secret, f.stage, f.round, f.page, f.parts,
f.fetched, f.total, f.tries,
f.next_ms, f.is_stopped, f.problem, f.not_understood, f.says_who_left, f.created_ms,
i.status AS import_status,
i.file_name, i.total AS lines

-- name: insert
-- An import that is fetched from another service.
{insert remote_fetch: import_id, account_id, base_url, secret, stage, created_ms = :now_ms};

-- name: by_id
-- One of these imports.
SELECT {fetch} FROM remote_fetch AS f JOIN import AS i ON i.id = f.import_id
WHERE f.account_id = :account_id AND f.import_id = :import_id;

-- name: of_account
-- These imports of the account, the newest first.
SELECT {fetch} FROM remote_fetch AS f JOIN import AS i ON i.id = f.import_id
WHERE f.account_id = :account_id
ORDER BY f.created_ms DESC, f.import_id DESC
LIMIT 20;

-- name: due
-- Imports whose next page is due.
SELECT import_id FROM remote_fetch WHERE secret <> '' AND is_stopped = 0 AND next_ms <= :now_ms
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
ORDER BY next_ms
LIMIT :most;

-- name: due_by_id
-- One import to fetch for, of any account.
SELECT {fetch} FROM remote_fetch AS f JOIN import AS i ON i.id = f.import_id WHERE f.import_id = :import_id;

-- name: known
-- Which of these people were fetched before.
SELECT uuid FROM fetched_person
WHERE account_id = :account_id AND import_id = :import_id AND uuid {in :uuids};

-- name: insert_known
-- Remember people that were fetched.
INSERT INTO fetched_person (import_id, uuid, account_id)
SELECT :import_id, u.value, :account_id FROM {list :uuids AS u}
WHERE true
ON CONFLICT (import_id, uuid) DO NOTHING;

-- name: forget_known
-- Forget the people that were fetched.
DELETE FROM fetched_person WHERE account_id = :account_id AND import_id = :import_id;

-- name: move
-- Only from where the fetch was: another process may have stored the same page meanwhile.
UPDATE remote_fetch
SET stage = :stage, round = :round, page = :page, parts = :parts, fetched = :fetched, total = :total,
    not_understood = :not_understood, says_who_left = :says_who_left, tries = 0, next_ms = 0, problem = ''
WHERE account_id = :account_id
  AND import_id = :import_id
  AND stage = :from_stage
  AND round = :from_round
  AND page = :from_page;

-- name: wait
-- Fetch on later, because the service failed.
UPDATE remote_fetch SET tries = tries + 1, next_ms = :next_ms, problem = :problem, is_stopped = :is_stopped
WHERE account_id = :account_id AND import_id = :import_id;

-- name: resume
-- Fetch on with a new secret.
UPDATE remote_fetch SET secret = :secret, tries = 0, next_ms = 0, problem = '', is_stopped = 0, stage = :stage
WHERE account_id = :account_id AND import_id = :import_id;

-- name: forget_secret
-- Forget the secret, which is needed no longer.
UPDATE remote_fetch SET secret = '' WHERE account_id = :account_id AND import_id = :import_id;

-- name: complete
-- An erasure meanwhile took its lines off.
UPDATE import SET total = total + :fetched WHERE account_id = :account_id AND id = :import_id;
