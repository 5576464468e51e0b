-- name: insert
INSERT INTO notice (id, account_id, kind, once_key, sentence, link, created_ms)
VALUES (:id, :account_id, :kind, :once_key, :sentence, :link, :now_ms) ON CONFLICT (account_id, once_key) DO NOTHING;

-- name: count_unread
SELECT COUNT(*) AS n FROM notice WHERE account_id = :account_id AND read_ms IS NULL;

-- name: list
SELECT id, kind, sentence, link, created_ms, read_ms FROM notice WHERE account_id = :account_id
ORDER BY created_ms DESC, id DESC LIMIT :most OFFSET :skip;

-- name: read_all
UPDATE notice SET read_ms = :now_ms WHERE account_id = :account_id AND read_ms IS NULL;
