-- fragment: value
subscriber_id, code, code_field, link, link_field, referrals, reward, coupon, others, state

-- name: known
-- In an order, so that two who lock several do not wait for each other.
SELECT s.id AS subscriber_id, s.email_key, s.ref_code, (
    SELECT t.synced_ms FROM integration_subscriber AS t
    WHERE t.integration_id = :integration_id AND t.subscriber_id = s.id
) AS synced_ms
FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.email_key {in :email_keys}
  AND COALESCE(s.erased_ms, 0) = 0
ORDER BY s.id;

-- name: forget
-- Forget values found with these contacts.
DELETE FROM adoption_value
WHERE account_id = :account_id
  AND integration_id = :integration_id
  AND subscriber_id {in :ids}
  AND state = 'found';

-- name: note
-- What was adopted stays.
INSERT INTO adoption_value (integration_id, account_id, {value})
SELECT :integration_id, :account_id, {value}
FROM {rows :rows AS r (
    subscriber_id TEXT, code TEXT, code_field TEXT, link TEXT, link_field TEXT, referrals TEXT,
    reward TEXT, coupon TEXT, others BIGINT, state TEXT
)}
WHERE 1 = 1
ON CONFLICT (integration_id, subscriber_id) DO NOTHING;

-- name: conclude
-- The list is read: ask the operator about what was found, if anything was.
UPDATE integration SET adoption = CASE WHEN EXISTS (
    SELECT 1 FROM adoption_value AS v WHERE v.integration_id = integration.id AND v.state = 'found'
) THEN 'asked' ELSE '' END
WHERE account_id = :account_id AND id = :integration_id AND lease_token = :token AND adoption = 'reading';

-- name: of_contacts
-- Values found with these contacts.
SELECT {value} FROM adoption_value
WHERE account_id = :account_id AND integration_id = :integration_id AND subscriber_id {in :ids};

-- name: count
-- How many contacts have which kinds of values.
SELECT COUNT(*) AS contacts, COUNT(code) AS codes, COUNT(link) AS links, COUNT(referrals) AS referrals,
       COUNT(reward) AS rewards,
       COUNT(coupon) AS coupons
FROM (
    SELECT code, link, referrals, reward, coupon FROM adoption_value
    WHERE account_id = :account_id AND integration_id = :id AND state = 'found' LIMIT :most
) AS found;

-- name: refused
-- Values that could not be adopted, and why.
SELECT v.subscriber_id, s.email, s.name, v.code, v.problem
FROM adoption_value AS v
JOIN subscriber AS s ON s.id = v.subscriber_id
WHERE v.account_id = :account_id AND v.integration_id = :id AND v.state = 'refused'
ORDER BY v.subscriber_id
LIMIT :most;

-- name: answer
-- What the operator decided about the values that were found.
UPDATE integration SET adoption = :adoption, adoption_answer = :answer
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id AND adoption = :before;
