-- name: known
-- Which of these email addresses are subscribers already.
SELECT id, email_key FROM subscriber WHERE campaign_id = :campaign_id AND email_key {in :keys};

-- name: taken_codes
-- Over all accounts: a code of ours is unique in the installation.
SELECT ref_code FROM subscriber WHERE ref_code {in :codes};

-- name: own_ids
-- The subscribers whom the other tool knew by these ids.
SELECT own_id, subscriber_id FROM import_own_id
WHERE account_id = :account_id AND import_id = :import_id AND own_id {in :own_ids};

-- name: add_own_ids
-- Remember by which ids the other tool knew subscribers.
INSERT INTO import_own_id (import_id, own_id, account_id, subscriber_id)
SELECT :import_id, r.own_id, :account_id, r.subscriber_id
FROM {rows :rows AS r (own_id TEXT, subscriber_id TEXT)}
WHERE true
ON CONFLICT (import_id, own_id) DO NOTHING;

-- name: lock
-- Lock these subscribers.
SELECT id FROM subscriber
WHERE id {in :ids} AND account_id = :account_id AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0
ORDER BY id DESC;
