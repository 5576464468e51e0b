-- fragment: entry
id, is_blocked, kind, value, hint, added_ms

-- name: all
-- Entries of the lists, the newest first.
SELECT {entry} FROM screening_entry
WHERE account_id = :account_id AND campaign_id = :campaign_id
ORDER BY added_ms DESC, id DESC;

-- name: relevant
-- Every IP range, because a range is found by what is in it.
SELECT {entry} FROM screening_entry WHERE account_id = :account_id AND campaign_id = :campaign_id
  AND (kind = 'email'
      AND value {in :person_keys}
   OR kind = 'domain'
      AND value {in :domains}
   OR kind = 'ip_range');

-- fragment: person_keys
SELECT s.person_key FROM subscriber AS s WHERE s.id = :subscriber_id AND s.campaign_id = :campaign_id
UNION SELECT e.earlier_key FROM subscriber AS s JOIN earlier_person_key AS e ON e.person_key = s.person_key
WHERE s.id = :subscriber_id AND s.campaign_id = :campaign_id

-- name: of_subscriber
-- Entries that concern a subscriber.
SELECT {entry} FROM screening_entry
WHERE account_id = :account_id AND campaign_id = :campaign_id AND kind = 'email'
  AND value IN ({person_keys});

-- name: count
-- How many entries the lists have.
SELECT COUNT(*) AS n FROM screening_entry WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: put
-- Add an entry, or change it.
{insert screening_entry: id, account_id, campaign_id, is_blocked, kind, value, hint, added_ms = :now_ms}
ON CONFLICT (campaign_id, kind, value) DO UPDATE
SET is_blocked = excluded.is_blocked, hint = excluded.hint, added_ms = excluded.added_ms;

-- name: remove
-- Remove an entry.
DELETE FROM screening_entry WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: erase
-- Delete the hint of entries about a subscriber who is erased.
UPDATE screening_entry SET hint = NULL
WHERE account_id = :account_id AND campaign_id = :campaign_id AND kind = 'email'
  AND value IN ({person_keys});
