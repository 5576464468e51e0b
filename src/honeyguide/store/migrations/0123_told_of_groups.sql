-- works-with: 0093
-- locks: trait_group, for a moment
-- Of which day after a group was found its owner was told: 0, 1, 3 or 7. NULL if they were not.
ALTER TABLE trait_group ADD COLUMN reminded INTEGER;
