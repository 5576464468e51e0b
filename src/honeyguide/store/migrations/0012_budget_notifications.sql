-- A budget can be reached more than once in a month: its owner raises it, or lowers it to what is spent. Partners are notified each
-- time, at most once a day, and also when a raise reopens it.
--   times_reached         how often it was reached this month; numbers each time
--   reach_notified        the number of the last reach that partners were notified of
--   reopening_notified    the number of the last reach whose reopening partners were notified of
--   partners_notified_ms  when partners were last notified of a reach
ALTER TABLE budget ADD COLUMN times_reached INTEGER NOT NULL DEFAULT 0;
ALTER TABLE budget ADD COLUMN reach_notified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE budget ADD COLUMN reopening_notified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE budget ADD COLUMN partners_notified_ms INTEGER;
CREATE INDEX budget_reopened ON budget (month, program_id) WHERE reached_ms IS NULL AND reach_notified > reopening_notified;

-- What partners were told before this version was the first reach of the month. Some were told only in part.
UPDATE budget SET times_reached = 1 WHERE reached_ms IS NOT NULL;
UPDATE budget SET times_reached = 1, reach_notified = 1, partners_notified_ms = told_reached_ms
WHERE told_reached_ms IS NOT NULL
   OR 'budget_reached:' || program_id || ':' || month IN (SELECT once_key FROM notice WHERE kind = 'budget_reached');

-- A raise before this version notified nobody, and no longer does.
UPDATE budget SET reopening_notified = reach_notified, told_reached_ms = NULL WHERE reached_ms IS NULL;

-- A budget lowered to or below what is spent was not reached before. When it was lowered is not known; it is at least 80 % spent
-- since `nearly_ms`.
UPDATE budget SET reached_ms = nearly_ms, times_reached = times_reached + 1
WHERE reached_ms IS NULL AND nearly_ms IS NOT NULL AND spent_cents > 0
  AND spent_cents >= (SELECT p.total_budget_cents FROM program AS p WHERE p.id = budget.program_id)
  AND NOT EXISTS (SELECT 1 FROM period AS m WHERE m.month = budget.month AND m.closed_ms IS NOT NULL);
