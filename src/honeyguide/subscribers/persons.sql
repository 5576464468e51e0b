-- name: remember
-- Under which key a person was known before.
-- touches: adds earlier_person_key
{insert earlier_person_key: earlier_key, person_key} ON CONFLICT (earlier_key) DO NOTHING;

-- fragment: rekeying
campaign_id, account_id, after_ms, after_id

-- name: due
-- Campaigns whose people get other keys.
SELECT {rekeying} FROM person_rekeying ORDER BY campaign_id LIMIT :most;

-- name: lock
-- Lock how far a campaign is.
SELECT {rekeying} FROM person_rekeying WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: batch
-- The next subscribers who get another key.
SELECT id, created_ms, email FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND erased_ms IS NULL
  AND (created_ms, id) > (:after_ms, :after_id)
ORDER BY created_ms, id
LIMIT :most;

-- name: rekey
-- Not if they have changed their address meanwhile.
UPDATE subscriber SET person_key = :person_key
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND person_key = :earlier_key;

-- name: rekey_entry
-- Where two spellings are listed, the first one stands for both.
UPDATE screening_entry SET value = :person_key
WHERE account_id = :account_id AND campaign_id = :campaign_id AND kind = 'email' AND value = :earlier_key
  AND NOT EXISTS (SELECT 1 FROM screening_entry AS e
      WHERE e.campaign_id = :campaign_id AND e.kind = 'email' AND e.value = :person_key);

-- name: move
-- How far the campaign is.
UPDATE person_rekeying SET after_ms = :after_ms, after_id = :after_id
WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: finish
-- All people of the campaign have their keys.
DELETE FROM person_rekeying WHERE account_id = :account_id AND campaign_id = :campaign_id;
