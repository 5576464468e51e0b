-- works-with: 0020
-- The oldest email that is not sent yet, however many there are.
CREATE INDEX letter_unsent ON letter (created_ms) WHERE due_ms IS NOT NULL;
