-- works-with: 0093
-- locks: program, for a moment; term_change, for a moment
-- How many verified referrals of each partner count before the owner has looked at them; NULL is all.
ALTER TABLE program ADD COLUMN first_look INTEGER;
-- A rule or level that waits to begin was chosen for all origins. From now on the change says so itself.
UPDATE term_change SET fields = '{"is_verification_chosen":1,' || substr(fields, 2)
WHERE fields LIKE '%"rule":%' OR fields LIKE '%"screening":%';
