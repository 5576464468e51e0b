-- The search tables that 0016 replaces.
DROP TABLE network_word;
DROP TABLE network_place;
