"""The edge of a month, on both engines: in every time zone, and with a clock that jumps back."""

import asyncio
import os
import time
from collections.abc import Iterator

import asyncpg
import pytest

from honeyguide.partners import payouts, statements
from honeyguide.store import Store
from tests.support.process import migrated
from tests.support.readings import in_account
from tests.support.stores import OpenStore, statement
from tests.support.trade import DAY_MS, HOUR_MS, NOON_MS, Trade, verify

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z
NOVEMBER, DECEMBER = "2026-11", "2026-12"

ZONES = ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"]


@pytest.fixture(params=ZONES)
def hostile_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The machine, the client library and the database itself all live far from UTC."""
    monkeypatch.setitem(os.environ, "TZ", request.param)
    monkeypatch.setitem(os.environ, "PGTZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def with_database_in(zone: str, engine: str) -> str:
    url = migrated(engine)
    if engine == "postgres":

        async def move() -> None:
            connection = await asyncpg.connect(url)
            await connection.execute(
                f"ALTER DATABASE \"{url.rsplit('/', 1)[1]}\" SET timezone = '{zone}'"
            )
            await connection.close()

        asyncio.run(move())
    return url


def test_the_last_tenth_of_a_second_is_in_its_month_in_every_time_zone(
    engine: str, hostile_zone: str
) -> None:
    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, total_budget=100_000)
        moments = [EDGE_MS - 100, EDGE_MS - 1, EDGE_MS, EDGE_MS + 100, EDGE_MS - 5_000, EDGE_MS + 1]
        months = []
        for now_ms in moments:
            months.append((await trade.outcome((await trade.arrive(now_ms=now_ms)).id))[2])
        assert months == [NOVEMBER, NOVEMBER, DECEMBER, DECEMBER, NOVEMBER, DECEMBER]
        assert (await trade.spent(NOVEMBER), await trade.spent(DECEMBER)) == (900, 900)
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS - 1)
        assert await trade.payouts_of() == []
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
        assert [(payout.month, payout.amount_cents) for payout in await trade.payouts_of()] == [
            (NOVEMBER, 900)
        ]
        # The clock steps back over the closed edge: what comes now is December's, and so is what is
        # paid.
        late = await trade.arrive(now_ms=EDGE_MS - 5_000)
        assert await trade.outcome(late.id) == ("verified", 300, DECEMBER, None)
        (payout,) = await trade.payouts_of()
        await store.write(lambda tx: payouts.mark_paid(tx.at(EDGE_MS - 5_000), payout.id, "bank 1"))
        assert set(
            await trade.rows("SELECT month FROM transfer WHERE kind IN ('payout', 'paid')")
        ) == {(DECEMBER,)}
        assert (await trade.spent(NOVEMBER), await trade.spent(DECEMBER)) == (900, 1_200)

    with OpenStore(engine, with_database_in(hostile_zone, engine)) as opened:
        opened.run(scenario(opened.store))
        opened.run(verify(opened.store))


@pytest.mark.parametrize(
    "how", ["by the end of the holding period", "by hand", "by a confirmation"]
)
async def test_a_charge_counts_in_the_month_of_verification_not_of_arrival(
    store: Store, how: str
) -> None:
    trade = await Trade.begin(
        store, referral_pending_duration_enabled=True, referral_pending_duration=30
    )
    reader = await trade.arrive(now_ms=NOON_MS)
    verified_ms = NOON_MS + 31 * DAY_MS  # 16 December
    if how == "by hand":
        await trade.confirm(reader.id, now_ms=verified_ms)
    elif how == "by a confirmation":
        waits = statement(
            "UPDATE subscriber SET referral_reason = 'awaiting_confirmation' WHERE id = :id"
        )
        await store.write(lambda tx: tx.run(waits, id=reader.id))
        await trade.change(reader.id, status="confirmed", now_ms=verified_ms)
    else:
        await trade.verify_due(verified_ms)
    assert await trade.outcome(reader.id) == ("verified", 300, DECEMBER, None)
    assert (await trade.spent(NOVEMBER), await trade.spent(DECEMBER)) == (0, 300)
    assert (await trade.earned(month=NOVEMBER), await trade.earned(month=DECEMBER)) == (0, 300)
    assert await trade.rows("SELECT month, created_ms FROM charge") == [(DECEMBER, verified_ms)]
    assert await trade.rows("SELECT month FROM transfer WHERE kind = 'charge'") == [(DECEMBER,)]
    for side, account_id in (
        ("partner", trade.partners[0].account_id),
        ("owner", trade.owner.account_id),
    ):
        lines = {
            month: await store.snapshot(
                lambda tx, s=side, a=account_id, m=month: statements.lines(in_account(tx, a), s, m)
            )
            for month in (NOVEMBER, DECEMBER)
        }
        assert lines[NOVEMBER] == [] and [line.created_ms for line in lines[DECEMBER]] == [
            verified_ms
        ]
    await trade.close_and_pay_out(EDGE_MS + 40 * DAY_MS)
    assert [(payout.month, payout.amount_cents) for payout in await trade.payouts_of()] == [
        (DECEMBER, 300)
    ]


async def test_a_cap_is_that_of_the_month_of_verification(store: Store) -> None:
    """Arrivals of November that are verified in December leave November's budget alone and fill
    December's.
    """
    trade = await Trade.begin(store, total_budget=600, referral_pending_duration_enabled=True)
    readers = [await trade.arrive(now_ms=NOON_MS) for _ in range(5)]
    for reader, now_ms in zip(readers, [NOON_MS, *[EDGE_MS + HOUR_MS] * 4], strict=True):
        await trade.confirm(reader.id, now_ms=now_ms)
    outcomes = [(await trade.outcome(reader.id))[1:] for reader in readers]
    spent = (None, DECEMBER, "budget_spent")
    assert outcomes == [
        (300, NOVEMBER, None),
        (300, DECEMBER, None),
        (300, DECEMBER, None),
        spent,
        spent,
    ]
    assert (await trade.reached(NOVEMBER), await trade.reached(DECEMBER)) == (False, True)


async def test_a_clock_that_jumps_back_over_several_closed_months_charges_the_first_open_one(
    store: Store,
) -> None:
    trade = await Trade.begin(store)
    await trade.arrive(now_ms=NOON_MS)
    await trade.close_and_pay_out(EDGE_MS + 70 * DAY_MS)  # 9 February 2027: January is closed too
    reader = await trade.arrive(now_ms=NOON_MS - 100 * DAY_MS)
    assert (await trade.outcome(reader.id))[2] == "2027-02"
    assert await trade.rows("SELECT month FROM period WHERE closed_ms IS NULL") == [("2027-02",)]
    await trade.offer(total_budget=600, now_ms=NOON_MS - 100 * DAY_MS)
    whys = [(await trade.outcome((await trade.arrive(now_ms=NOON_MS)).id))[3] for _ in range(2)]
    assert whys == [None, "budget_spent"]
