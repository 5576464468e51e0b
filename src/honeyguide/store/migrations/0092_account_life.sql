-- works-with: 0088
-- locks: account and publication, for a moment
-- Accounts that are paused by an administrator, and accounts that are closed.
--   paused_ms   since when it is paused; null while it is not
--   closes_ms   when it is closed, from the moment that an owner asked for it; null otherwise
--   closed_ms   since when it is closed for good
--   emptied_ms  since when nothing of its subscribers is left but the records of money
--   forgotten_ms  since when its own name and address are gone too, because records are no longer kept
ALTER TABLE account ADD COLUMN paused_ms INTEGER;
ALTER TABLE account ADD COLUMN closes_ms INTEGER;
ALTER TABLE account ADD COLUMN closed_ms INTEGER;
ALTER TABLE account ADD COLUMN emptied_ms INTEGER;
ALTER TABLE account ADD COLUMN forgotten_ms INTEGER;
CREATE INDEX account_paused ON account (id) WHERE paused_ms IS NOT NULL;
CREATE INDEX account_closes ON account (closes_ms) WHERE closes_ms IS NOT NULL AND emptied_ms IS NULL;
CREATE INDEX account_emptied ON account (emptied_ms) WHERE emptied_ms IS NOT NULL AND forgotten_ms IS NULL;

--   was_enabled   its program was on when the account was paused or began to close, and comes on again when that ends
ALTER TABLE publication ADD COLUMN was_enabled INTEGER NOT NULL DEFAULT 0;
