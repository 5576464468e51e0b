-- Room on each page for the lease, so that taking one touches no index.
ALTER TABLE delivery SET (fillfactor = 60);
