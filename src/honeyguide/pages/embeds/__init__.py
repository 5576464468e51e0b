"""What runs on the operator's own websites: a script, and the public endpoints it calls."""
