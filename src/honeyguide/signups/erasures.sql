-- fragment: erasure
id, account_id, campaign_id, subscriber_id, person_key, erased_ms

-- name: record
-- Remember who was erased, for backups that still have them.
INSERT INTO erasure ({erasure})
SELECT :id, account_id, campaign_id, id, person_key, :now_ms FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :subscriber_id;

-- name: uncopied
-- Erasures that are not copied beside the backups yet.
SELECT {erasure} FROM erasure WHERE copied_ms IS NULL ORDER BY id LIMIT :most;

-- name: set_copied
-- Record that these erasures were copied.
UPDATE erasure SET copied_ms = :now_ms WHERE id IN (SELECT i.value FROM {list :ids AS i});

-- name: all
-- All erasures.
SELECT {erasure} FROM erasure ORDER BY id;

-- name: known
-- Is the erasure known?
SELECT id FROM erasure WHERE id = :id;

-- name: keep
-- Remember an erasure that a restored backup did not know.
INSERT INTO erasure ({erasure})
VALUES (:id, :account_id, :campaign_id, :subscriber_id, :person_key, :erased_ms);

-- name: old
-- Erasures that no backup needs any more.
SELECT id FROM erasure WHERE erased_ms < :before_ms LIMIT :most;

-- name: purge
-- Delete these erasures.
DELETE FROM erasure WHERE id {in :rows};
