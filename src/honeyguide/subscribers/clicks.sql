-- name: add
-- Clicks of visitors, each once an hour.
INSERT INTO click (account_id, target_id, code, hour_ms, visitor)
SELECT c.account_id, c.target_id, c.code, c.hour_ms, c.visitor
FROM {rows :clicks AS c (account_id TEXT, target_id TEXT, code TEXT, hour_ms BIGINT, visitor TEXT)} WHERE true
ON CONFLICT (target_id, code, hour_ms, visitor) DO NOTHING
RETURNING account_id, target_id, code, hour_ms, visitor;

-- name: count
-- Add clicks to the counts of days.
INSERT INTO click_day (target_id, code, day_ms, account_id, n)
SELECT c.target_id, c.code, c.day_ms, c.account_id, c.n
FROM {rows :counts AS c (target_id TEXT, code TEXT, day_ms BIGINT, account_id TEXT, n BIGINT)} WHERE true
ON CONFLICT (target_id, code, day_ms) DO UPDATE SET n = click_day.n + excluded.n;

-- name: known_hosts
-- Which websites are counted by name already.
SELECT c.account_id, c.quarter_ms, c.host
FROM {rows :quarters AS q (account_id TEXT, quarter_ms BIGINT)}
JOIN click_source AS c ON c.account_id = q.account_id AND c.quarter_ms = q.quarter_ms;

-- name: count_sources
-- Add clicks to the counts of websites.
INSERT INTO click_source (account_id, quarter_ms, host, n)
SELECT c.account_id, c.quarter_ms, c.host, c.n
FROM {rows :counts AS c (account_id TEXT, quarter_ms BIGINT, host TEXT, n BIGINT)} WHERE true
ON CONFLICT (account_id, quarter_ms, host) DO UPDATE SET n = click_source.n + excluded.n;

-- name: of_visitor
-- Each hour on its own: then it is found by the key, however many others clicked.
SELECT COUNT(*) AS n FROM click
WHERE account_id = :account_id AND target_id = :target_id AND code = :code AND visitor {in :visitors}
  AND hour_ms IN (SELECT h.hour_ms FROM {rows :hours AS h (hour_ms BIGINT)});

-- name: by_day
-- Clicks on a code by day.
SELECT day_ms, n FROM click_day
WHERE account_id = :account_id AND target_id = :target_id AND code = :code AND day_ms >= :since_ms
ORDER BY day_ms;

-- name: total
-- All clicks on a code.
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n FROM click_day
WHERE account_id = :account_id AND target_id = :target_id AND code = :code;

-- name: erase
-- Delete the clicks on a code.
DELETE FROM click WHERE account_id = :account_id AND target_id = :target_id AND code = :code;

-- name: erase_days
-- Delete the counts of clicks on a code.
DELETE FROM click_day WHERE account_id = :account_id AND target_id = :target_id AND code = :code;

-- name: old
-- Over all accounts, by age alone.
SELECT target_id, code, hour_ms, visitor FROM click WHERE hour_ms < :before_ms ORDER BY hour_ms LIMIT :most;

-- name: purge
-- Delete old clicks; the counts stay.
DELETE FROM click WHERE (target_id, code, hour_ms, visitor) IN (
    SELECT r.target_id, r.code, r.hour_ms, r.visitor
    FROM {rows :rows AS r (target_id TEXT, code TEXT, hour_ms BIGINT, visitor TEXT)}
);
