-- works-with: 0020
-- locks: account and ticket, for reads and writes, for a moment
-- When the set-up checklist was dismissed, and whether an invitation is for a partner, who needs none.
ALTER TABLE account ADD COLUMN checklist_dismissed_ms INTEGER;
ALTER TABLE ticket ADD COLUMN as_partner INTEGER NOT NULL DEFAULT 0;
