"""What subscribers agreed to on the signup form: the text as they saw it, and when.

A text is never changed: an edited one is stored as another text.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Consent(NamedTuple):
    text: str
    privacy_url: str | None
    agreed_ms: int


_sql = beside(__file__)
_ADD_TEXT = _sql.command("add_text")
_RECORD = _sql.command("record")
_OF_SUBSCRIBER = _sql.query("of_subscriber", Consent)
_ERASE = _sql.command("erase")


async def add_text(
    tx: Tx, tenant: Tenant, text: str, privacy_url: str | None, *, now_ms: int
) -> str:
    text_id = new_id()
    await tx.run(
        _ADD_TEXT,
        **tenant._asdict(),
        id=text_id,
        text=text,
        privacy_url=privacy_url,
        now_ms=now_ms,
    )
    return text_id


async def record(tx: Tx, tenant: Tenant, subscriber_id: str, text_id: str, *, now_ms: int) -> None:
    """Keeps the time of the first agreement to each text."""
    await tx.put(
        _RECORD,
        account_id=tenant.account_id,
        subscriber_id=subscriber_id,
        consent_text_id=text_id,
        now_ms=now_ms,
    )


async def of_subscriber(tx: Tx, tenant: Tenant, subscriber_id: str) -> list[Consent]:
    return await tx.all(_OF_SUBSCRIBER, account_id=tenant.account_id, subscriber_id=subscriber_id)


async def erase(tx: Tx, tenant: Tenant, subscriber_id: str) -> None:
    await tx.run(_ERASE, account_id=tenant.account_id, subscriber_id=subscriber_id)
