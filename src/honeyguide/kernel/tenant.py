"""Whose rows a statement may touch."""

from __future__ import annotations

from typing import NamedTuple


class Tenant(NamedTuple):
    """An account and its campaign. Domain functions take it right after the transaction."""

    account_id: str
    campaign_id: str
