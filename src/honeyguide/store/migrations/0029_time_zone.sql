-- works-with: 0020
-- locks: account, for reads and writes, for a moment
-- Days on the dashboard and in summaries are cut in this time zone.
ALTER TABLE account ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
