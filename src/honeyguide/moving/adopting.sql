-- name: due
-- There are few integrations; each question is one row by an index.
SELECT i.id FROM integration AS i
WHERE i.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL) AND (i.adoption = 'adopting'
   OR (i.adoption = '' AND i.adoption_answer = 'adopt' AND EXISTS (
       SELECT 1 FROM adoption_value AS v WHERE v.integration_id = i.id AND v.state = 'found'))
   OR (i.adoption = ''
       AND i.adoption_answer <> 'adopt'
       AND EXISTS (SELECT 1 FROM adoption_value AS v WHERE v.integration_id = i.id)))
ORDER BY i.id
LIMIT :most;

-- name: lock_integration
-- Nothing while it is read, or the operator is asked.
SELECT id FROM integration WHERE id = :id AND adoption IN ('', 'adopting');

-- name: next
-- The next values to adopt.
SELECT subscriber_id, code, code_field, link, link_field, referrals, reward, coupon, others, state
FROM adoption_value
WHERE account_id = :account_id AND integration_id = :id AND state = 'found'
ORDER BY subscriber_id
LIMIT :most;

-- name: lock
-- Lock the subscribers whose values are adopted.
SELECT id, created_ms, referrals_verified AS verified, adjustments FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id {in :ids} AND COALESCE(erased_ms, 0) = 0
ORDER BY id;

-- name: mark
-- The rows name the integration, so that SQLite looks each one up.
UPDATE adoption_value SET state = r.state, problem = r.problem
FROM {rows :rows AS r (integration_id TEXT, subscriber_id TEXT, state TEXT, problem TEXT)}
WHERE adoption_value.account_id = :account_id AND adoption_value.integration_id = r.integration_id
  AND adoption_value.subscriber_id = r.subscriber_id;

-- name: delete
-- Delete some of the values.
DELETE FROM adoption_value WHERE account_id = :account_id AND integration_id = :id AND subscriber_id IN (
    SELECT subscriber_id FROM adoption_value
    WHERE account_id = :account_id AND integration_id = :id
    LIMIT :most
);

-- name: settle
-- End the adoption.
UPDATE integration SET adoption = '' WHERE account_id = :account_id AND id = :id AND adoption = 'adopting';
