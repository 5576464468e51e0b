"""Honeyguide: newsletter referral and partner-growth programs, self-hosted."""

__version__ = "0.1.0"
