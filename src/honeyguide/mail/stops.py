"""Subscribers who stopped the emails that nobody asked for, such as those about rewards.

They stay subscribed. They are checked right before an email is sent
(`mail.sending`), so a stop also reaches emails that are queued.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside


class StoppedSubscriber(NamedTuple):
    id: str
    email: str
    name: str | None
    stopped_ms: int


_sql = beside(__file__)
_STOP = _sql.command("stop")
_RESUME = _sql.command("resume")
_STOPPED_MS = _sql.value("stopped_ms", int)
_IS_FINAL = _sql.value("is_final", int)
_LIST = _sql.query("list", StoppedSubscriber)
_COUNT = _sql.value("count", int)


async def stop(change: Change, subscriber_id: str, *, is_final: bool = False) -> None:
    """With `is_final`, while they are unsubscribed, also those that any form asks for."""
    await change.run(_STOP, subscriber_id=subscriber_id, is_final=is_final)


async def resume(change: Change, subscriber_id: str) -> None:
    """Sends them again; also part of an erasure."""
    await change.run(_RESUME, subscriber_id=subscriber_id)


async def stopped_ms(at: AccountReading, subscriber_id: str) -> int | None:
    """Since when; None while they get these emails."""
    return await at.one(_STOPPED_MS, subscriber_id=subscriber_id)


async def is_final(at: AccountReading, subscriber_id: str) -> bool:
    """Whether they want no email at all while they are unsubscribed."""
    return bool(await at.one(_IS_FINAL, subscriber_id=subscriber_id))


async def page_of(at: AccountReading, page: Page) -> tuple[list[StoppedSubscriber], int]:
    """Subscribers who stopped these emails, the last one first, and their number."""
    rows = await at.all(_LIST, most=page.per_page, skip=page.skip)
    return rows, await at.one(_COUNT) or 0
