"""Notes that an operator writes about a subscriber. Only the account sees them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import subscribers

MOST = 100


UNKNOWN = "There is no such note."


class SubscriberNote(NamedTuple):
    id: str
    subscriber_id: str
    text: str
    written_ms: int


class ImportedNote(NamedTuple):
    text: str
    written_ms: int | None = None
    """None if the file does not say when: it is then as old as the import."""


_sql = beside(__file__)
_OF_SUBSCRIBER = _sql.query("of_subscriber", SubscriberNote)
_OF_SUBSCRIBERS = _sql.query("of_subscribers", SubscriberNote)
_BY_ID = _sql.query("by_id", SubscriberNote)
_ADD = _sql.command("add")
_LOCK = _sql.value("lock", str)
_ADD_ONCE = _sql.command("add_once")
_REMOVE = _sql.command("remove")
_ERASE = _sql.command("erase")


async def of_subscriber(at: Reading, subscriber_id: str) -> list[SubscriberNote]:
    """Newest first."""
    return await at.all(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def of_subscribers(at: Reading, ids: Sequence[str]) -> dict[str, list[SubscriberNote]]:
    """By subscriber, the oldest first. Those who have none are left out."""
    found: dict[str, list[SubscriberNote]] = {}
    for each in await at.all(_OF_SUBSCRIBERS, ids=list(ids)):
        found.setdefault(each.subscriber_id, []).append(each)
    return found


async def find(at: Reading, note_id: str) -> SubscriberNote | None:
    return await at.one(_BY_ID, id=note_id)


async def add(change: Change, subscriber_id: str, text: str) -> None:
    checks.text(text, param="note", limit=checks.DESCRIPTION_LIMIT, blank_ok=False)
    if not await subscribers.lock(change, subscriber_id):
        raise Missing(subscribers.UNKNOWN)
    if len(await of_subscriber(change, subscriber_id)) >= MOST:
        raise Invalid(
            "A subscriber can have {most} notes. Delete one first.", param="note", most=MOST
        )
    await change.run(_ADD, id=new_id(), subscriber_id=subscriber_id, text=text)


async def add_once(change: Change, notes: Collection[tuple[str, ImportedNote]]) -> None:
    """Notes on these subscribers, as an import has them, except where the same note is there. One
    that says when it was written is the same only with the same time."""
    ids = {subscriber_id for subscriber_id, _ in notes}
    locked = set(await change.lock(_LOCK, ids=list(ids)))
    rows = [
        {"id": new_id(), "subscriber_id": subscriber_id, **note._asdict()}
        for subscriber_id, note in dict.fromkeys(notes)
        if subscriber_id in locked
    ]
    await change.run(_ADD_ONCE, rows=rows, most=MOST)


async def remove(change: Change, subscriber_id: str, note_id: str) -> None:
    await change.run(_REMOVE, subscriber_id=subscriber_id, id=note_id)


async def erase(change: Change, subscriber_id: str) -> None:
    await change.run(_ERASE, subscriber_id=subscriber_id)
