"""Two readers swap their referrers at one moment: whoever changes the counts of two referrers locks
both in one order, so neither signup is undone and made again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.signups import signups, unconfirmed
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.changes import SITE
from tests.support.stores import OpenStore, statement
from tests.support.trade import NOON_MS, Trade

WAITING = statement(
    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
    "AND datname = current_database()"
)
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
LOCK = statement("SELECT id FROM subscriber WHERE id = :id")


@pytest.fixture
def opened() -> Iterator[OpenStore]:
    with OpenStore("postgres", pool_size=5) as store:
        yield store


async def enter(trade: Trade, email: str, code: str | None = None) -> Subscriber:
    new = NewSubscriber(email=email, referrer_code=code, origin="signup")

    async def enter(tx: Tx) -> Subscriber:
        change = Change(tx, SITE, trade.owner, actors.NEW_SUBSCRIBER, NOON_MS)
        found = await subscribers.find_by_email(change, EmailAddress(email))
        if found is None:
            return await signups.sign_up(change, new)
        again = await unconfirmed.sign_up_again(change, found, new, EmailAddress(email))
        assert again is not None
        return again

    return await trade.store.write(enter)


@pytest.mark.parametrize("comes_back", [False, True])
def test_crossed_referrers_are_locked_in_one_order(opened: OpenStore, comes_back: bool) -> None:
    async def cross() -> list[str | None]:
        trade = await Trade.begin(opened.store)
        ann, ben = [await enter(trade, f"{name}@gmail.com") for name in ("ann", "ben")]
        await trade.configure(needs_confirmation=True)
        people = {"xena@gmail.com": (ann, ben), "yves@gmail.com": (ben, ann)}
        for email, (first, then) in people.items():
            if comes_back:
                await enter(trade, email, then.ref_code)
            await enter(trade, email, first.ref_code)
        (before,) = await trade.rows(DEADLOCKS)
        found: list[asyncio.Task[Subscriber]] = []

        async def hold(tx: Tx) -> None:
            """Both wait, the one who gives Ann up first in the queue."""
            await tx.lock(LOCK, id=ann.id)
            for email, (_, then) in people.items():
                found.append(asyncio.create_task(enter(trade, email, then.ref_code)))
                while len(await opened.store.read(lambda tx: tx.all(WAITING))) < len(found):
                    await asyncio.sleep(0.005)

        await opened.store.write(hold)
        swapped = [await each for each in found]
        assert await trade.rows(DEADLOCKS) == [before]
        return [each.referrer_id for each in swapped] + [ben.id, ann.id]

    first, second, *expected = opened.run(cross())
    assert [first, second] == expected
