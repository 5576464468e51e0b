-- works-with: 0093
-- locks: subscriber and account, for a moment
-- Links that work without a login end with the email address that they were sent to.
--   link_version   of the links that work now. Links that say no version, as older code makes them, are of version 0.
ALTER TABLE subscriber ADD COLUMN link_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN link_version INTEGER NOT NULL DEFAULT 0;
