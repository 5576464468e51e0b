-- fragment: integration
id, account_id, campaign_id, platform, status, credentials, key_hint, audience_id, audience_name,
field_names, code_field,
adds_existing, hook_key, created_ms, next_call_ms, failures, problem, problem_ms, pass AS pass_list,
pass_ms, pass_id, is_reading, read_since_ms,
read_token, read_began_ms, next_read_ms, next_full_read_ms, first_sync_ms, synced, last_in_ms,
last_in_kind, last_out_ms,
last_out_count, fields_ms, refused_hook, refused_hook_ms, list_read_ms, missing, missing_ms, read_tries,
read_problem, next_page_ms, adoption, adoption_answer

-- name: of_campaign
-- The integration of the campaign.
SELECT {integration} FROM integration WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: by_id
-- One integration.
SELECT {integration} FROM integration WHERE id = :id;

-- name: by_hook_key
-- The integration that a webhook address belongs to.
SELECT {integration} FROM integration WHERE hook_key = :hook_key;

-- name: insert
-- A new integration.
INSERT INTO integration (
    id, account_id, campaign_id, platform, status, credentials, key_hint, audience_id, audience_name,
    field_names, code_field,
    adds_existing, hook_key, created_ms, pass, pass_ms, pass_id, read_began_ms, adoption
) VALUES (
    :id, :account_id, :campaign_id, :platform, 'active', :credentials, :key_hint, :audience_id,
    :audience_name, :field_names,
    :code_field, :adds_existing, :hook_key, :created_ms, 'advocates', :pass_ms, '', :now_ms, :adoption
);

-- name: set_status
-- Pause or resume the integration, which clears its problem.
UPDATE integration SET status = :status, next_call_ms = 0, failures = 0, problem = NULL, problem_ms = NULL
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: set_credentials
-- Change the key and the audience of the integration.
UPDATE integration
SET credentials = :credentials, key_hint = :key_hint, audience_id = :audience_id,
    audience_name = :audience_name,
    hook_key = :hook_key, status = 'active', next_call_ms = 0, failures = 0, problem = NULL, problem_ms = NULL
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: set_field_names
-- The pass writes everybody again, with the new names. Whoever serves it goes on with the old ones, so the
-- lease ends.
UPDATE integration
SET field_names = :field_names, code_field = :code_field, pass = 'advocates', pass_ms = :pass_ms,
    pass_id = '',
    lease_token = NULL, leased_until_ms = 0, adoption = :adoption,
    is_reading = CASE WHEN :adoption = 'reading' THEN 0 ELSE is_reading END,
    next_full_read_ms = CASE WHEN :adoption = 'reading' THEN 0 ELSE next_full_read_ms END
WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: retry_failed
-- Try again what failed for good.
UPDATE integration_subscriber SET due_ms = 0, tries = 0, failed_ms = NULL
WHERE account_id = :account_id AND integration_id = :id AND failed_ms IS NOT NULL
  AND subscriber_id = COALESCE(:subscriber_id, subscriber_id);

-- name: failed
-- Subscribers who could not be written, and why.
SELECT t.subscriber_id, s.email, s.name, t.reason, t.failed_ms
FROM integration_subscriber AS t JOIN subscriber AS s ON s.id = t.subscriber_id
WHERE t.account_id = :account_id AND t.integration_id = :id AND t.failed_ms IS NOT NULL
ORDER BY t.failed_ms DESC, t.subscriber_id
LIMIT :most;

-- name: count_failed
-- All, and those who were never written. Counted up to a limit, so that the page stays quick.
SELECT COUNT(*) AS total, COALESCE(SUM(never), 0) AS never_written FROM (
    SELECT CASE WHEN synced_ms IS NULL THEN 1 ELSE 0 END AS never FROM integration_subscriber
    WHERE account_id = :account_id AND integration_id = :id AND failed_ms IS NOT NULL LIMIT :most
) AS found;

-- name: count_due
-- How many subscribers wait to be written, and how many of them for the first time.
SELECT COUNT(*) AS total, COALESCE(SUM(never), 0) AS never_written FROM (
    SELECT CASE WHEN synced_ms IS NULL THEN 1 ELSE 0 END AS never FROM integration_subscriber
    WHERE account_id = :account_id AND integration_id = :id AND due_ms IS NOT NULL LIMIT :most
) AS found;

-- name: count_not_written
-- Each part has an index.
SELECT (
    SELECT COUNT(*) FROM subscriber
    WHERE account_id = :account_id
      AND campaign_id = :campaign_id
      AND erased_ms IS NULL
      AND status = 'unsubscribed'
) + (
    SELECT COUNT(*) FROM subscriber
    WHERE account_id = :account_id
      AND campaign_id = :campaign_id
      AND erased_ms IS NULL
      AND must_confirm = 1
      AND status = 'active'
) AS n;

-- name: of_subscriber
-- What the integrations know of a subscriber.
SELECT i.platform, t.synced_ms, t.written, t.reason, t.due_ms, t.failed_ms, i.adoption
FROM integration AS i JOIN integration_subscriber AS t ON t.integration_id = i.id
WHERE i.account_id = :account_id AND i.campaign_id = :campaign_id AND t.subscriber_id = :subscriber_id;

-- name: all_credentials
-- All stored credentials, to check that they can be decrypted.
SELECT credentials FROM integration;
