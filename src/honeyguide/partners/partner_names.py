"""What the partners of an account's programs are called, and their logos."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
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


async def of(tx: Tx, account_id: str, ids: list[str]) -> dict[str, NamedPartner]:
    """By the id of the partner campaign."""
    found = await tx.all(_NAMES, account_id=account_id, ids=ids) if ids else []
    return {each.id: each for each in found}
