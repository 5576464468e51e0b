"""The jobs about accounts that are closed: shut and empty them, and forget them years later."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.account_life import closing
from honeyguide.account_life.closing import ClosingAccount
from honeyguide.kernel import actors
from honeyguide.kernel.clock import CLOCK_SET, HOUR_MS, MINUTE_MS
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.work.items import Items
from honeyguide.work.job import Job

FORGETTING = "forget accounts that were closed years ago"


async def close_account(
    site: Site, store: Store, found: Sequence[ClosingAccount], now_ms: int
) -> bool:
    """Step by step, each in a transaction of its own: a process that is killed loses nothing."""
    (account,) = found
    actor = actors.job(closing.CLOSING)
    while await store.write(closing.close_some, site, actor, account.id, now_ms=now_ms):
        pass
    return False


async def forget_account(store: Store, found: Sequence[str], now_ms: int) -> bool:
    (account_id,) = found
    await store.write(closing.forget, account_id, now_ms=now_ms)
    return True


def jobs_of(site: Site, *, keep_years: int) -> tuple[Job, ...]:
    return (
        Job(
            closing.CLOSING,
            MINUTE_MS,
            (Items(closing.due, partial(close_account, site), MOST_CLOSED),),
            topic=CLOCK_SET,
        ),
        Job(
            FORGETTING,
            HOUR_MS,
            (Items(partial(closing.expired, keep_years=keep_years), forget_account),),
        ),
    )


# Found at once. One whose partners wait for the end of a holding period stays among them.
MOST_CLOSED = 100
