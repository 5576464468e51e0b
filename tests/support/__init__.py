"""What the tests stand on: real servers, started and stopped by us."""
