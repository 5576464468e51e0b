-- name: insert
-- A notification, unless the account has one with the same key.
{insert notice: id, account_id, kind, once_key, sentence, link, digest_due_ms, created_ms = :now_ms}
ON CONFLICT (account_id, once_key) DO NOTHING;

-- name: waiting
-- A recent notification with this key.
SELECT sentence, link FROM notice
WHERE account_id = :account_id AND once_key = :once_key AND created_ms > :since_ms;

-- name: withdraw
-- One that was read stays, and one whose email is being sent.
DELETE
FROM notice
WHERE account_id = :account_id AND once_key = :once_key AND read_ms IS NULL AND NOT EXISTS (
    SELECT 1 FROM letter AS e WHERE e.account_id = :account_id AND e.once_key = :once_key
);

-- name: list
-- A notification and its email have the same key.
SELECT n.id, n.kind, n.sentence, n.link, n.created_ms, n.read_ms, n.digest_due_ms, n.once_key,
    e.id AS email_id, e.kind AS email_kind, e.to_email, e.subject, e.about_id,
    e.created_ms AS email_created_ms, e.due_ms,
    e.attempts, e.sent_ms, e.failed_ms, e.error, e.held_code, e.bounced, e.body_text
FROM notice AS n LEFT JOIN letter AS e ON e.account_id = n.account_id AND e.once_key = n.once_key
WHERE n.account_id = :account_id AND (:of_all_kinds = 1 OR n.kind {in :kinds})
  AND (:only_new = 0 OR n.read_ms IS NULL)
ORDER BY n.created_ms DESC, n.id DESC
LIMIT :most OFFSET :skip;

-- name: read
-- Mark these notifications as read.
UPDATE notice SET read_ms = :now_ms WHERE account_id = :account_id AND id {in :ids} AND read_ms IS NULL;
