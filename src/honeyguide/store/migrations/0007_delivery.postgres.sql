-- Room on each page for the lease and the outcome beside the row: a lease then touches no index, and neither needs a new page.
ALTER TABLE delivery SET (fillfactor = 40);
