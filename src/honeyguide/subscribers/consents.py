"""What subscribers agreed to on the signup form: the text as they saw it, and when.

A text is never changed: an edited one is stored as another text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Consent(NamedTuple):
    text: str
    privacy_url: str | None
    agreed_ms: int


class _ConsentOf(NamedTuple):
    subscriber_id: str
    text: str
    privacy_url: str | None
    agreed_ms: int


class _KnownText(NamedTuple):
    id: str
    text: str
    privacy_url: str | None


_sql = beside(__file__)
_ADD_TEXT = _sql.command("add_text")
_RECORD = _sql.command("record")
_OF_SUBSCRIBER = _sql.query("of_subscriber", Consent)
_OF_SUBSCRIBERS = _sql.query("of_subscribers", _ConsentOf)
_KNOWN_TEXTS = _sql.query("known_texts", _KnownText)
_CARRY_OVER = _sql.command("carry_over")
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


async def of_subscribers(tx: Tx, tenant: Tenant, ids: Sequence[str]) -> dict[str, list[Consent]]:
    """By subscriber, the oldest first. Those who have none are left out."""
    found: dict[str, list[Consent]] = {}
    for each in await tx.all(_OF_SUBSCRIBERS, account_id=tenant.account_id, ids=list(ids)):
        consent = Consent(each.text, each.privacy_url, each.agreed_ms)
        found.setdefault(each.subscriber_id, []).append(consent)
    return found


async def carry_over(
    tx: Tx, tenant: Tenant, given: Sequence[tuple[str, Consent]], *, now_ms: int
) -> None:
    """What subscribers agreed to elsewhere, with the time of it. A text that the campaign never
    had is stored too. A second time changes nothing."""
    texts = list({consent.text for _, consent in given})
    known = {
        (each.text, each.privacy_url): each.id
        for each in await tx.all(_KNOWN_TEXTS, **tenant._asdict(), texts=texts)
    }
    rows = []
    for subscriber_id, consent in given:
        key = (consent.text, consent.privacy_url)
        if key not in known:
            known[key] = await add_text(tx, tenant, *key, now_ms=now_ms)
        rows.append(
            {
                "subscriber_id": subscriber_id,
                "consent_text_id": known[key],
                "agreed_ms": consent.agreed_ms,
            }
        )
    await tx.run(_CARRY_OVER, account_id=tenant.account_id, rows=rows)


async def erase(tx: Tx, tenant: Tenant, subscriber_id: str) -> None:
    await tx.run(_ERASE, account_id=tenant.account_id, subscriber_id=subscriber_id)
