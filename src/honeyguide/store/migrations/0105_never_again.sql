-- works-with: 0093
-- locks: email_stop, for a moment
--   is_final   while they are unsubscribed, no form can have an email sent to them either
ALTER TABLE email_stop ADD COLUMN is_final INTEGER NOT NULL DEFAULT 0;
