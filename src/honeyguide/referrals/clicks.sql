-- name: add (sqlite)
INSERT INTO click (account_id, target_id, code, hour_ms, visitor)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(:rows) WHERE true
ON CONFLICT (target_id, code, hour_ms, visitor) DO NOTHING RETURNING account_id, target_id, code, hour_ms;

-- name: add (postgres)
INSERT INTO click (account_id, target_id, code, hour_ms, visitor)
SELECT r ->> 0, r ->> 1, r ->> 2, CAST(r ->> 3 AS BIGINT), r ->> 4 FROM jsonb_array_elements(CAST(:rows AS jsonb)) AS r
ON CONFLICT (target_id, code, hour_ms, visitor) DO NOTHING RETURNING account_id, target_id, code, hour_ms;

-- name: count (sqlite)
INSERT INTO click_day (target_id, code, day_ms, account_id, n)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(:rows) WHERE true
ON CONFLICT (target_id, code, day_ms) DO UPDATE SET n = click_day.n + excluded.n;

-- name: count (postgres)
INSERT INTO click_day (target_id, code, day_ms, account_id, n)
SELECT r ->> 0, r ->> 1, CAST(r ->> 2 AS BIGINT), r ->> 3, CAST(r ->> 4 AS BIGINT)
FROM jsonb_array_elements(CAST(:rows AS jsonb)) AS r
ON CONFLICT (target_id, code, day_ms) DO UPDATE SET n = click_day.n + excluded.n;

-- name: by_day
SELECT day_ms, n FROM click_day
WHERE account_id = :account_id AND target_id = :target_id AND code = :code AND day_ms >= :since_ms ORDER BY day_ms;

-- name: total
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n FROM click_day
WHERE account_id = :account_id AND target_id = :target_id AND code = :code;

-- name: erase
DELETE FROM click WHERE account_id = :account_id AND target_id = :target_id AND code = :code;

-- name: erase_days
DELETE FROM click_day WHERE account_id = :account_id AND target_id = :target_id AND code = :code;

-- name: purge
-- Over all accounts, by age alone.
DELETE FROM click WHERE (target_id, code, hour_ms, visitor) IN (
    SELECT target_id, code, hour_ms, visitor FROM click WHERE hour_ms < :before_ms ORDER BY hour_ms LIMIT :batch
);
