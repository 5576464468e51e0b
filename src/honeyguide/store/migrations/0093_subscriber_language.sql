-- works-with: 0092
-- locks: subscriber, for a moment
--   language   of the page on which they signed up; null if they did not sign up on one of ours
ALTER TABLE subscriber ADD COLUMN language TEXT;
