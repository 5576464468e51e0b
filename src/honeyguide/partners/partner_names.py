"""What the partners of an account's programs are called, and their logos."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.subscribers.branding import picture_path


class NamedPartner(NamedTuple):
    id: str
    """Of the partner campaign."""
    account_id: str
    """Of the partner, who may have joined several programs."""
    name: str
    logo_id: str | None

    @property
    def logo(self) -> str:
        """Where it is served; empty if there is none."""
        return picture_path(self.logo_id) if self.logo_id else ""


_sql = beside(__file__)
_NAMES = _sql.query("names", NamedPartner)


async def of(at: AccountReading, ids: list[str]) -> dict[str, NamedPartner]:
    """By the id of the partner campaign."""
    found = await at.all(_NAMES, ids=ids) if ids else []
    return {each.id: each for each in found}
