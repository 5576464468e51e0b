"""Filters of the subscriber list that an operator saved under a name."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl

from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.text_matching import fold
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.subscriber_filters import SubscriberFilter, read_filter
from honeyguide.subscribers.subscribers import Subscriber

LONGEST_NAME = 60
MOST = 30
UNKNOWN = "There is no such saved filter."


class SavedFilter(NamedTuple):
    id: str
    name: str
    query: str
    saved_ms: int

    @property
    def filters(self) -> SubscriberFilter:
        return read_filter(dict(parse_qsl(self.query)))[0]


_sql = beside(__file__)
_ALL = _sql.query("all", SavedFilter)
_SAVE = _sql.command("save")
_DELETE = _sql.command("delete")


async def of_campaign(at: Reading) -> list[SavedFilter]:
    """By name."""
    return await at.all(_ALL)


async def save(change: Change, name: str, filters: SubscriberFilter) -> None:
    """Under a name; an earlier filter of that name is replaced."""
    checks.text(name, param="name", limit=LONGEST_NAME, blank_ok=False)
    saved = {each.name for each in await of_campaign(change)}
    if len(saved | {name}) > MOST:
        raise Invalid("You have {most} saved filters. Delete one first.", param="name", most=MOST)
    await change.run(_SAVE, id=new_id(), name=name, query=filters.query)


async def delete(change: Change, filter_id: str) -> None:
    await change.run(_DELETE, ids=[filter_id])


async def naming(at: Reading, subscriber: Subscriber) -> list[SavedFilter]:
    """Filters whose name or search contains the subscriber's email address or full name. A single
    word says too little: `anna` finds many."""
    known = [fold(EmailAddress(subscriber.email).key)]
    if len((subscriber.name or "").split()) > 1:
        known.append(fold((subscriber.name or "").strip()))
    return [
        each
        for each in await of_campaign(at)
        if any(part in fold(text) for part in known for text in (each.name, each.filters.q))
    ]


async def erase(change: Change, subscriber: Subscriber) -> None:
    """Deletes the filters that name the subscriber."""
    named = await naming(change, subscriber)
    if named:
        await change.run(_DELETE, ids=[each.id for each in named])
