-- works-with: 0020
-- locks: the rows of programs that are paused, for a moment
-- A program has one switch, `enabled_partner_program` of its publication: what was paused is off. Only earlier versions, which may
-- run beside this one, read `paused_ms`; to them an empty one means that the switch decides.
UPDATE publication SET enabled_partner_program = 0
WHERE id IN (SELECT publication_id FROM program WHERE paused_ms IS NOT NULL AND deleted_ms IS NULL);
UPDATE program SET paused_ms = NULL WHERE paused_ms IS NOT NULL AND deleted_ms IS NULL;
