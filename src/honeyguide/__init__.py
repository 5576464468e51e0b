"""Honeyguide: newsletter referral and partner-growth programs, self-hosted."""

from importlib.metadata import version

__version__ = version(__name__)  # as pyproject.toml says

# Where the project is in public, for those who look beyond this installation.
PROJECT_URL = "https://github.com/honeyguide/honeyguide"
DOCUMENTS_URL = f"{PROJECT_URL}/tree/main/docs"
ISSUES_URL = f"{PROJECT_URL}/issues"
