"""What subscribers agreed to on the signup form: the text as they saw it, and when.

A text is never changed: an edited one is stored as another text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside


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


async def add_text(change: Change, text: str, privacy_url: str | None) -> str:
    text_id = new_id()
    await change.run(_ADD_TEXT, id=text_id, text=text, privacy_url=privacy_url)
    return text_id


async def record(change: Change, subscriber_id: str, text_id: str) -> None:
    """Keeps the time of the first agreement to each text."""
    await change.put(_RECORD, subscriber_id=subscriber_id, consent_text_id=text_id)


async def of_subscriber(at: Reading, subscriber_id: str) -> list[Consent]:
    return await at.all(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def of_subscribers(at: Reading, ids: Sequence[str]) -> dict[str, list[Consent]]:
    """By subscriber, the oldest first. Those who have none are left out."""
    found: dict[str, list[Consent]] = {}
    for each in await at.all(_OF_SUBSCRIBERS, ids=list(ids)):
        consent = Consent(each.text, each.privacy_url, each.agreed_ms)
        found.setdefault(each.subscriber_id, []).append(consent)
    return found


async def carry_over(change: Change, given: Sequence[tuple[str, Consent]]) -> None:
    """What subscribers agreed to elsewhere, with the time of it. A text that the campaign never
    had is stored too. A second time changes nothing."""
    texts = list({consent.text for _, consent in given})
    known = {
        (each.text, each.privacy_url): each.id
        for each in await change.all(_KNOWN_TEXTS, texts=texts)
    }
    rows = []
    for subscriber_id, consent in given:
        key = (consent.text, consent.privacy_url)
        if key not in known:
            known[key] = await add_text(change, *key)
        rows.append(
            {
                "subscriber_id": subscriber_id,
                "consent_text_id": known[key],
                "agreed_ms": consent.agreed_ms,
            }
        )
    await change.run(_CARRY_OVER, rows=rows)


async def erase(change: Change, subscriber_id: str) -> None:
    await change.run(_ERASE, subscriber_id=subscriber_id)
