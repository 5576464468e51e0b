"""Subscribers who stopped the emails that nobody asked for, such as those about rewards.

They stay subscribed. They are checked right before an email is sent
(`mail.sending`), so a stop also reaches emails that are queued.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


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


async def stop(
    tx: Tx, account_id: str, subscriber_id: str, *, is_final: bool = False, now_ms: int
) -> None:
    """With `is_final`, while they are unsubscribed, also those that any form asks for."""
    await tx.run(
        _STOP,
        account_id=account_id,
        subscriber_id=subscriber_id,
        is_final=is_final,
        now_ms=now_ms,
    )


async def resume(tx: Tx, account_id: str, subscriber_id: str) -> None:
    """Sends them again; also part of an erasure."""
    await tx.run(_RESUME, account_id=account_id, subscriber_id=subscriber_id)


async def stopped_ms(tx: Tx, account_id: str, subscriber_id: str) -> int | None:
    """Since when; None while they get these emails."""
    return await tx.one(_STOPPED_MS, account_id=account_id, subscriber_id=subscriber_id)


async def is_final(tx: Tx, account_id: str, subscriber_id: str) -> bool:
    """Whether they want no email at all while they are unsubscribed."""
    return bool(await tx.one(_IS_FINAL, account_id=account_id, subscriber_id=subscriber_id))


async def page_of(tx: Tx, account_id: str, page: Page) -> tuple[list[StoppedSubscriber], int]:
    """Subscribers who stopped these emails, the last one first, and their number."""
    rows = await tx.all(_LIST, account_id=account_id, most=page.per_page, skip=page.skip)
    return rows, await tx.one(_COUNT, account_id=account_id) or 0
