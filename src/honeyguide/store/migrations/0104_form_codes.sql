-- works-with: 0093
-- locks: used_form, for a moment
-- Each signup form is answered with a code that nobody saw before: the new subscriber's own, or, for an address that is subscribed
-- already, one more that credits the same subscriber. So the answer tells nobody which it was.
CREATE TABLE form_code (
    code TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX form_code_of ON form_code (subscriber_id);

--   code   that the form was answered with, so that sending it twice gets the same answer
ALTER TABLE used_form ADD COLUMN code TEXT;
