-- fragment: action
id, account_id, campaign_id, batch_id, actor_kind, actor_id, kind, subject_id, subject_state, arguments,
due_ms

-- name: insert
INSERT INTO delayed_action ({action})
SELECT r.id, :account_id, :campaign_id, :batch_id, :actor_kind, :actor_id, :kind, r.subject_id, r.state,
       :arguments, :due_ms
FROM {rows :rows AS r (id TEXT, subject_id TEXT, state TEXT)} WHERE true
ON CONFLICT (subject_id, account_id) DO NOTHING;

-- name: of_subjects
SELECT {action} FROM delayed_action WHERE account_id = :account_id AND subject_id {in :ids};

-- name: of_codes
SELECT {action} FROM delayed_action WHERE account_id = :account_id AND EXISTS (
    SELECT 1 FROM subscriber AS s WHERE s.id = delayed_action.subject_id AND s.referrer_code {in :codes}
) ORDER BY id;

-- name: waiting
SELECT {action} FROM delayed_action
WHERE account_id = :account_id AND (id = :id OR batch_id = :id)
ORDER BY id;

-- name: due
SELECT {action} FROM delayed_action WHERE (due_ms <= :now_ms OR due_ms > :ahead_ms)
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL) ORDER BY due_ms, id LIMIT :most;

-- name: keep_only
-- Of all accounts.
DELETE FROM delayed_action WHERE id NOT IN (SELECT t.value FROM {list :ids AS t});

-- name: delete
DELETE FROM delayed_action WHERE account_id = :account_id AND id = :id;

-- name: undo_batch
DELETE FROM delayed_action WHERE account_id = :account_id AND batch_id = :id;
