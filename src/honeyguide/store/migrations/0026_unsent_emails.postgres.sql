-- works-with: 0020
-- concurrently: letter_unsent
-- The oldest email that is not sent yet, however many there are.
CREATE INDEX CONCURRENTLY letter_unsent ON letter (created_ms) WHERE due_ms IS NOT NULL;
