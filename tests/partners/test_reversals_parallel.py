"""Processes that verify referrals and take them back at the same moment, of which some are killed:
one result for each referral, and the books right to the cent.
"""

import random
import time
from collections.abc import Iterator

import pytest

from tests.support.confirmers import Orders, Process
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, Trade, verify

FEE, CAP = 300, 6_000
READERS = 40


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, pool_size=5) as store:
        yield store


def begin(opened: OpenStore) -> tuple[Trade, list[str]]:
    trade = opened.run(Trade.begin(opened.store, partners=2, cpa=FEE, max_payout=CAP))
    return trade, [opened.run(trade.arrive(number % 2)).id for number in range(READERS)]


def crowd(
    opened: OpenStore,
    trade: Trade,
    readers: list[str],
    seed: int,
    *,
    people: int = 4,
    group: int = 1,
    times: int = 3,
) -> list[Process]:
    """Each does something to every reader, in an order of its own."""
    made = [
        Process(
            Orders(
                opened.url,
                trade.owner.account_id,
                trade.owner.campaign_id,
                arrive=[],
                confirm=readers,
                times=times,
                group=group,
                seed=seed + number,
                now_ms=NOON_MS + seed,
                direct_url=opened.direct_url,
                reverses_in=trade.program.id,
            )
        )
        for number in range(people)
    ]
    for process in made:
        process.wait_until_ready()
    for process in made:
        process.go()
    return made


def check(opened: OpenStore, trade: Trade) -> None:
    assert opened.run(verify(opened.store)).charged_cents == opened.run(trade.spent())
    charged = opened.ask("SELECT COUNT(*) FROM partner_referral WHERE charged_cents IS NOT NULL")
    assert opened.run(trade.spent()) == charged[0][0] * FEE
    assert max(opened.run(trade.earned(n)) for n in range(2)) <= CAP
    # Each reversal was told of once, to the owner.
    rows = opened.ask("SELECT COUNT(*) FROM charge WHERE fee_cents < 0")
    found = opened.ask(
        "SELECT COUNT(*) FROM notice WHERE kind = 'charge_reversed' AND account_id = "
        f"'{trade.owner.account_id}'"
    )
    assert rows == found and rows[0][0] > READERS / 2


def test_processes_that_verify_and_reverse_the_same_referrals(opened: OpenStore) -> None:
    trade, readers = begin(opened)
    for process in crowd(opened, trade, readers, 1):
        process.wait()
    check(opened, trade)


def test_two_who_press_the_button_at_once_take_each_fee_back_once(opened: OpenStore) -> None:
    """The button takes back what is listed, in one transaction."""
    trade, readers = begin(opened)
    assert opened.run(trade.spent()) == READERS * FEE
    for process in crowd(opened, trade, readers, 1, people=2, group=READERS, times=1):
        process.wait()
    assert opened.run(verify(opened.store)).charged_cents == opened.run(trade.spent()) == 0
    taken = "SELECT COUNT(*), COUNT(DISTINCT reverses_id) FROM charge WHERE fee_cents < 0"
    assert opened.ask(taken) == [(READERS, READERS)]


def test_processes_killed_between_leave_nothing_half_done(opened: OpenStore) -> None:
    trade, readers = begin(opened)
    chance, killed = random.Random(3), 0
    for seed in (100, 200, 300, 400):
        processes = crowd(opened, trade, readers, seed)
        time.sleep(chance.uniform(0.05, 0.4))
        killed += sum(process.kill() for process in processes[:2])
        for process in processes[2:]:
            process.wait()
        opened.run(verify(opened.store))
    assert killed, "nobody was still at work"
    check(opened, trade)
