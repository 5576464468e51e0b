-- works-with: 0093
-- locks: login_user, for a moment
--   logged_in_ms   when they last logged in; null if they never did. The first login is from no new browser.
ALTER TABLE login_user ADD COLUMN logged_in_ms INTEGER;

UPDATE login_user SET logged_in_ms = created_ms WHERE password_hash IS NOT NULL;
