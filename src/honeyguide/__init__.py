"""Honeyguide: newsletter referral and partner-growth programs, self-hosted."""

from importlib.metadata import version

__version__ = version(__name__)  # as pyproject.toml says
