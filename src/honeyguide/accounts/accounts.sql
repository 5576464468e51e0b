-- fragment: account
id, email, name, is_admin, created_ms, time_zone, needs_second_factor, paused_ms, closes_ms, closed_ms,
link_version

-- name: insert
-- A new account.
-- touches: adds account
{insert account: id, email, name, is_admin, created_ms};

-- name: insert_campaign
-- The campaign of a new account.
-- touches: adds campaign, triggers slug
{insert campaign: id, account_id, name, slug, created_ms};

-- name: slug_taken
-- Of any account, also one that was given up: links to it may still be out.
SELECT slug FROM slug WHERE slug = :slug;

-- name: of_owner
-- The account that a user owns.
SELECT a.id, a.email, a.name, a.is_admin, a.created_ms, a.time_zone, a.needs_second_factor, a.paused_ms,
       a.closes_ms,
       a.closed_ms, a.link_version
FROM login_user AS u JOIN member AS m ON m.user_id = u.id JOIN account AS a ON a.id = m.account_id
WHERE u.email_key = :email_key AND m.role = 'owner'
ORDER BY m.created_ms, a.id;

-- name: paused_owners
-- Whoever left an account or stopped owning it while it was paused still counts as its owner.
SELECT u.id, u.email FROM account AS a JOIN member AS m ON m.account_id = a.id AND m.role = 'owner'
JOIN login_user AS u ON u.id = m.user_id WHERE a.paused_ms IS NOT NULL
UNION
SELECT u.id, u.email FROM account AS a
JOIN change_log AS l ON l.account_id = a.id AND l.changed_ms >= a.paused_ms
JOIN login_user AS u ON u.id = l.subject_id
WHERE a.paused_ms IS NOT NULL AND l.action IN ('member.role_changed', 'member.left', 'member.removed')
  AND l.before LIKE '%"owner"%';

-- name: by_id
-- One account.
SELECT {account} FROM account WHERE id = :id;

-- name: instance_value
-- A fact about the installation, by its name.
SELECT value FROM instance WHERE name = :name;

-- name: set_instance_value
-- Record a fact about the installation, unless it is known already.
{insert instance: name, value} ON CONFLICT (name) DO NOTHING;

-- name: rename
-- Change the name of the account.
UPDATE account SET name = :name WHERE id = :account_id;

-- name: dismiss_checklist
-- Dismiss the set-up checklist.
UPDATE account SET checklist_dismissed_ms = :now_ms WHERE id = :account_id;

-- name: set_time_zone
-- When the weekly summary is due is looked up again.
UPDATE account SET time_zone = :time_zone, weekly_due_ms = 0 WHERE id = :account_id;

-- name: set_needs_second_factor
-- Say whether all members need a second factor.
UPDATE account SET needs_second_factor = :is_needed WHERE id = :account_id;

-- name: keep_instance_value
-- Record a fact about the installation in place of an earlier one.
{insert instance: name, value} ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: all
-- The newest accounts, for the administrator.
SELECT {account} FROM account ORDER BY created_ms DESC, id DESC LIMIT 1000;
