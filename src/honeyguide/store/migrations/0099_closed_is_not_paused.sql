-- works-with: 0093
-- locks: account, for a moment
-- An account that was paused while it was being closed was closed anyway, and what partners referred to it waited for the end of
-- a pause that nobody could end. It is decided now.
UPDATE account SET paused_ms = NULL WHERE closed_ms IS NOT NULL AND paused_ms IS NOT NULL;
