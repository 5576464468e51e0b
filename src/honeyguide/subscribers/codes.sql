-- name: holders
-- The exact one first. Two are enough to know that the code is unclear.
SELECT c.code, c.folded, s.ref_code FROM subscriber_code AS c JOIN subscriber AS s ON s.id = c.subscriber_id
WHERE c.account_id = :account_id AND c.campaign_id = :campaign_id AND c.folded = :folded
ORDER BY CASE WHEN c.code = :code THEN 0 ELSE 1 END, c.id
LIMIT 2;

-- name: holders_of_all
-- Who holds these codes, also as a further code.
SELECT c.code, c.folded, s.ref_code FROM subscriber_code AS c JOIN subscriber AS s ON s.id = c.subscriber_id
WHERE c.account_id = :account_id AND c.campaign_id = :campaign_id AND c.folded {in :folded};

-- name: of_subscriber
-- Further codes of a subscriber.
SELECT id, code, source, created_ms FROM subscriber_code
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :subscriber_id
ORDER BY created_ms DESC, id DESC;

-- name: of_subscribers
-- Further codes of these subscribers.
SELECT code, subscriber_id FROM subscriber_code
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id {in :ids}
ORDER BY subscriber_id, created_ms, id;

-- name: taken
-- Which of these codes are taken.
SELECT code, subscriber_id FROM subscriber_code
WHERE account_id = :account_id AND campaign_id = :campaign_id AND code {in :codes};

-- name: taken_in_any_case
-- Which of these codes are taken, upper and lower case aside.
SELECT code, subscriber_id FROM subscriber_code
WHERE account_id = :account_id AND campaign_id = :campaign_id AND folded {in :folded};

-- name: taken_by_ours
-- Ours are in lower case. Also those that a form answered with: else whoever wants to choose one would learn
-- that its address was subscribed. A list, not a join: PostgreSQL would scan all subscribers as long as it
-- does not know how many there are.
SELECT ref_code AS code, id AS subscriber_id FROM subscriber
WHERE ref_code {in :codes} AND account_id = :account_id AND campaign_id = :campaign_id
UNION ALL SELECT code, subscriber_id FROM form_code
WHERE code {in :codes} AND account_id = :account_id AND campaign_id = :campaign_id;

-- name: insert
-- A further code of a subscriber.
{insert subscriber_code: id, account_id, campaign_id, subscriber_id, code, folded, source, created_ms};

-- name: adopt
-- Codes from another tool.
INSERT INTO subscriber_code (id, account_id, campaign_id, subscriber_id, code, folded, source, created_ms)
SELECT r.id, :account_id, :campaign_id, r.subscriber_id, r.code, r.folded, :source, :now_ms
FROM {rows :rows AS r (id TEXT, subscriber_id TEXT, code TEXT, folded TEXT)} WHERE true;

-- name: erase
-- Make a code unreadable; nobody else can ever get it.
UPDATE subscriber_code SET code = :hash, folded = :folded_hash WHERE account_id = :account_id AND id = :id;
