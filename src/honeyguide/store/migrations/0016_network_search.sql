-- works-with: 0014
-- locks: publication and program, for reads and writes, while it updates every program
-- The partner network is searched with LIKE and sorted in plain SQL.
--   publication.search_text  name, categories and description, folded by Honeyguide. Empty in rows of an earlier version: a job
--                            fills it in when the new version starts, because lower() in SQL knows only ASCII.
--   program.confirmation_bp  the 30-day confirmation rate in basis points, for sorting only; -1 without decided referrals
ALTER TABLE publication ADD COLUMN search_text TEXT NOT NULL DEFAULT '';
ALTER TABLE program ADD COLUMN confirmation_bp INTEGER NOT NULL DEFAULT -1;
UPDATE program SET confirmation_bp = COALESCE(
    (SELECT n.position FROM network_place AS n WHERE n.program_id = program.id AND n.sort = 'confirmation_rate'), -1);
