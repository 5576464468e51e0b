"""The jobs about first looks: owners are asked and reminded, partners are paused, and readers whom
an owner refused are unsubscribed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from honeyguide.kernel.clock import CLOCK_SET, MINUTE_MS
from honeyguide.kernel.site import Site
from honeyguide.signups import first_looks, refused_readers
from honeyguide.signups.first_looks import LookToAsk
from honeyguide.signups.refused_readers import RefusedReader
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.work.items import Find, Items
from honeyguide.work.job import Job

BATCH = 50

Act = Callable[[Change, LookToAsk], Awaitable[None]]


def _each(site: Site, find: Find, act: Act) -> Items:
    async def do_one(tx: Tx, found: LookToAsk, now_ms: int) -> None:
        await act(first_looks.change_of(tx, site, found, now_ms), found)

    async def do(store: Store, some: Sequence[LookToAsk], now_ms: int) -> bool:
        (found,) = some
        await store.write(do_one, found, now_ms)
        return False

    return Items(find, do, BATCH)


async def refuse(site: Site, store: Store, some: Sequence[RefusedReader], now_ms: int) -> bool:
    (found,) = some
    await store.write(refused_readers.refuse, site, found, now_ms=now_ms)
    return True


def jobs_of(site: Site) -> tuple[Job, ...]:
    return (
        Job(
            first_looks.ASKING,
            5 * MINUTE_MS,
            (
                _each(site, first_looks.to_compare, first_looks.compare_again),
                _each(site, first_looks.to_ask, first_looks.ask),
                _each(site, first_looks.to_remind, first_looks.remind),
                _each(site, first_looks.to_pause, first_looks.pause),
            ),
            topic=CLOCK_SET,
        ),
        Job(
            first_looks.REFUSING,
            MINUTE_MS,
            (Items(refused_readers.to_refuse, partial(refuse, site), BATCH),),
            topic=CLOCK_SET,
        ),
    )
