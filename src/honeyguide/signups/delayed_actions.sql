-- fragment: action
id, account_id, campaign_id, batch_id, actor_kind, actor_id, kind, subject_id, subject_state, arguments, due_ms

-- name: insert
INSERT INTO delayed_action ({action})
SELECT r.id, :account_id, :campaign_id, :batch_id, :actor_kind, :actor_id, :kind, r.subject_id, r.state, :arguments, :due_ms
FROM {rows :rows AS r (id TEXT, subject_id TEXT, state TEXT)} WHERE true
ON CONFLICT (subject_id, account_id) DO NOTHING;

-- name: of_subjects
SELECT {action} FROM delayed_action WHERE account_id = :account_id AND subject_id {in :ids};

-- name: of_codes
SELECT s.referrer_code, w.kind, w.batch_id AS id, COUNT(*) AS n, MAX(w.due_ms) AS due_ms
FROM delayed_action AS w JOIN subscriber AS s ON s.id = w.subject_id
WHERE w.account_id = :account_id AND s.referrer_code {in :codes}
GROUP BY s.referrer_code, w.kind, w.batch_id ORDER BY 1, 2, 3;

-- name: due
SELECT {action} FROM delayed_action WHERE due_ms <= :now_ms OR due_ms > :ahead_ms ORDER BY due_ms, id LIMIT :most;

-- name: delete
DELETE FROM delayed_action WHERE account_id = :account_id AND id = :id;

-- name: undo_batch
DELETE FROM delayed_action WHERE account_id = :account_id AND batch_id = :id;
