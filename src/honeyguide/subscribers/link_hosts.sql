-- name: lock_account
-- Lock the account, whose link hosts are limited in number.
SELECT id FROM account WHERE id = :account_id;

-- name: of_account
-- Link hosts of the account.
SELECT {link_host} FROM link_host WHERE account_id = :account_id ORDER BY host;

-- name: by_id
-- One link host.
SELECT {link_host} FROM link_host WHERE account_id = :account_id AND id = :id;

-- name: lock
-- Lock a link host.
SELECT {link_host} FROM link_host WHERE account_id = :account_id AND id = :id;

-- name: holder
-- Another account that has verified the host.
SELECT {link_host} FROM link_host
WHERE host = :host AND verified_ms IS NOT NULL AND account_id <> :account_id;

-- name: insert
-- A new link host.
{insert link_host: id, account_id, campaign_id, host, token, due_ms, created_ms = :now_ms};

-- name: set_due
-- When to check a link host.
UPDATE link_host SET due_ms = :due_ms WHERE account_id = :account_id AND id = :id;

-- name: set_checked
-- What the check of a link host found.
UPDATE link_host
SET {assign verified_ms, seen_ms, problem, due_ms}, checked_ms = :now_ms
WHERE account_id = :account_id AND id = :id;

-- name: delete
-- Delete a link host.
DELETE FROM link_host WHERE account_id = :account_id AND id = :id;

-- name: due
-- Link hosts to check.
SELECT {link_host} FROM link_host WHERE due_ms <= :now_ms ORDER BY due_ms, id LIMIT :most;

-- name: verified
-- Link hosts that serve referral links.
SELECT host, account_id, campaign_id FROM link_host WHERE verified_ms IS NOT NULL;

-- name: all
-- All link hosts, for the administrator.
SELECT h.host, h.verified_ms, h.checked_ms, h.problem, h.created_ms, a.name, a.email
FROM link_host AS h JOIN account AS a ON a.id = h.account_id ORDER BY h.host, h.id
LIMIT :most;
