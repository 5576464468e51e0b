"""The dashboard: what an operator sees and does, behind the login."""
