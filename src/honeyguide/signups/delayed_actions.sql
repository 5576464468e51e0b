-- fragment: action
id, account_id, campaign_id, batch_id, actor_kind, actor_id, kind, subject_id, subject_state, arguments,
due_ms

-- name: insert
-- Actions that wait for a minute, so that they can be undone.
INSERT INTO delayed_action ({action})
SELECT r.id, :account_id, :campaign_id, :batch_id, :actor_kind, :actor_id, :kind, r.subject_id, r.state,
       :arguments, :due_ms
FROM {rows :rows AS r (id TEXT, subject_id TEXT, state TEXT)} WHERE true
ON CONFLICT (subject_id, account_id) DO NOTHING;

-- name: of_subjects
-- Waiting actions on these subjects.
SELECT {action} FROM delayed_action WHERE account_id = :account_id AND subject_id {in :ids};

-- name: of_codes
-- Waiting actions on subscribers with these codes.
SELECT {action} FROM delayed_action WHERE account_id = :account_id AND EXISTS (
    SELECT 1 FROM subscriber AS s WHERE s.id = delayed_action.subject_id AND s.referrer_code {in :codes}
) ORDER BY id;

-- name: waiting
-- One waiting action, or those of a batch.
SELECT {action} FROM delayed_action
WHERE account_id = :account_id AND (id = :id OR batch_id = :id)
ORDER BY id;

-- name: due
-- Actions to carry out now. A clock that was set back delays none.
SELECT {action} FROM delayed_action WHERE (due_ms <= :now_ms OR due_ms > :ahead_ms)
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
ORDER BY due_ms, id
LIMIT :most;

-- name: keep_only
-- Of all accounts.
DELETE FROM delayed_action WHERE id NOT IN (SELECT t.value FROM {list :ids AS t});

-- name: delete
-- Delete an action, which is carried out or dropped.
DELETE FROM delayed_action WHERE account_id = :account_id AND id = :id;

-- name: undo_batch
-- Undo a batch of actions.
DELETE FROM delayed_action WHERE account_id = :account_id AND batch_id = :id;
