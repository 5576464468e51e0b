-- fragment: entry
id, account_id, actor_kind, actor_id, action, subject_id, before, after, changed_ms, salt, values_hash

-- name: find
-- Looks at a bounded number of entries, the newest first, whatever it looks for.
SELECT {entry} FROM (
    SELECT {entry} FROM change_log
    WHERE account_id = :account_id AND (changed_ms, id) < (:before_ms, :before_id) AND changed_ms >= :since_ms
    ORDER BY changed_ms DESC, id DESC LIMIT :scanned
) AS e
WHERE (CAST(:actor_kind AS TEXT) = '' OR actor_kind = :actor_kind)
  AND (CAST(:actor_id AS TEXT) = '' OR actor_id = :actor_id)
  AND (CAST(:has_group AS BIGINT) = 0
       OR EXISTS (SELECT 1 FROM {list :prefixes AS p} WHERE e.action LIKE p.value || '.%'))
  AND (CAST(:pattern AS TEXT) = '' OR e.subject_id = :subject_id OR LOWER(e.action) LIKE :pattern ESCAPE '\'
       OR LOWER(e.subject_id) LIKE :pattern ESCAPE '\'
       OR LOWER(COALESCE(e.before, '')) LIKE :pattern ESCAPE '\'
       OR LOWER(COALESCE(e.after, '')) LIKE :pattern ESCAPE '\')
ORDER BY changed_ms DESC, id DESC
LIMIT :most;

-- name: scan_end
-- The last entry that `find` looks at, if there are that many.
SELECT changed_ms, id FROM change_log
WHERE account_id = :account_id AND (changed_ms, id) < (:before_ms, :before_id) AND changed_ms >= :since_ms
ORDER BY changed_ms DESC, id DESC
LIMIT 1 OFFSET :skip;
