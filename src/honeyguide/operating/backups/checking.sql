-- name: contents
-- How much a backup has of what matters most.
SELECT (SELECT COUNT(*) FROM account) AS accounts,
       (SELECT COUNT(*) FROM subscriber WHERE erased_ms IS NULL) AS subscribers,
       (SELECT MAX(received_ms) FROM subscriber) AS newest_ms;
