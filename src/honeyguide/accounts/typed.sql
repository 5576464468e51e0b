-- name: note
-- A count whose window is over begins anew; so does one from before a clock was set back.
INSERT INTO typed_address (bucket, began_ms, n) VALUES (:bucket, :now_ms, 1)
ON CONFLICT (bucket) DO UPDATE SET
    n = CASE WHEN typed_address.began_ms > :expired_ms AND typed_address.began_ms <= excluded.began_ms THEN typed_address.n + 1 ELSE 1 END,
    began_ms = CASE WHEN typed_address.began_ms > :expired_ms AND typed_address.began_ms <= excluded.began_ms
                    THEN typed_address.began_ms ELSE excluded.began_ms END
RETURNING n;

-- name: purge
DELETE FROM typed_address WHERE bucket IN (SELECT bucket FROM typed_address WHERE began_ms <= :expired_ms ORDER BY began_ms LIMIT :batch);
