"""Stand-ins for email platforms, written from their public documentation and strict about it."""
