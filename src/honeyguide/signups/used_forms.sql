-- Signup forms that were used. One of two transactions with the same token waits here for the other, and then
-- finds its row.

-- name: use
-- Use a form, which works once.
{insert used_form: token_hash, account_id, campaign_id, mailbox_hash, code, used_ms = :now_ms}
ON CONFLICT (token_hash) DO NOTHING;

-- name: answer
-- What was answered when a form was sent the first time.
SELECT mailbox_hash, code FROM used_form WHERE token_hash = :token_hash AND account_id = :account_id;

-- name: old
-- Over all accounts, by age alone.
SELECT token_hash FROM used_form WHERE used_ms < :before_ms ORDER BY used_ms LIMIT :most;

-- name: purge
-- Delete forms that are too old to be sent again.
DELETE FROM used_form WHERE token_hash {in :rows};
