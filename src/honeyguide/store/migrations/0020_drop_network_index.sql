-- works-with: 0016
-- locks: program, for reads and writes, for a moment, and network_word and network_place, which it drops
-- The search tables that 0016 replaces. Code of before 0016 writes them with every change of a program.
DROP TABLE network_word;
DROP TABLE network_place;
