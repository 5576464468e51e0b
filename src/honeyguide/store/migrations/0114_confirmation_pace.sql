-- works-with: 0093
-- locks: letter, for a moment
-- Whether the browser of who asked for a confirmation email did the work that the form of a flooded code asks for.
ALTER TABLE letter ADD COLUMN has_worked INTEGER NOT NULL DEFAULT 0;
