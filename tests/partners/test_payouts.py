"""A month is closed once, paid out once to each partner, and marked as paid as often as people
change their minds: always by new entries, whoever runs the job, however often and at the same
moment.
"""

import asyncio
import subprocess
import sys

import pytest

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.partners import ledger, payouts
from honeyguide.signups import signups
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from tests.support.changes import changing
from tests.support.stores import OpenStore
from tests.support.trade import DAY_MS, HOUR_MS, NOON_MS, SITE, Trade, on, verify

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z
NOVEMBER, DECEMBER = "2026-11", "2026-12"
HELD = {"referral_pending_duration_enabled": True}


# -- closing


def test_closing_a_month_waits_for_a_charge_and_the_next_one_goes_to_the_next_month() -> None:
    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, **HELD)
        first, second = (
            await trade.arrive(now_ms=EDGE_MS - HOUR_MS),
            await trade.arrive(now_ms=EDGE_MS - HOUR_MS),
        )
        charged, may_commit = asyncio.Event(), asyncio.Event()

        async def slowly(tx: Tx) -> None:
            decide = changing(signups.decide, SITE, trade.owner, EDGE_MS - 1)
            await decide(tx, first.id, "verified")
            charged.set()
            await may_commit.wait()

        charging = asyncio.create_task(store.write(slowly))
        await charged.wait()
        closing = asyncio.create_task(
            store.write(lambda tx: payouts.close_months(tx.at(EDGE_MS + HOUR_MS)))
        )
        await asyncio.sleep(0.3)
        assert not closing.done(), "the close passed a charge that was under way"
        # One that comes while the close waits joins neither too late nor in the wrong month.
        third = asyncio.create_task(trade.confirm(second.id, now_ms=EDGE_MS - 1))
        await asyncio.sleep(0.1)
        may_commit.set()
        assert await closing == [NOVEMBER]
        await asyncio.gather(charging, third)
        assert (await trade.outcome(first.id))[2] == NOVEMBER
        assert (await trade.outcome(second.id))[2] in (NOVEMBER, DECEMBER)
        assert (await trade.outcome((await trade.arrive(now_ms=EDGE_MS - 1)).id))[0] == "pending"
        late = await trade.arrive(now_ms=EDGE_MS - 1)
        await trade.confirm(late.id, now_ms=EDGE_MS - 1)
        assert (await trade.outcome(late.id))[2] == DECEMBER
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS)

    on("postgres", scenario)


async def test_months_close_an_hour_after_their_end_and_one_that_was_idle_closes_too(
    store: Store,
) -> None:
    trade = await Trade.begin(store)
    assert await store.write(lambda tx: payouts.close_months(tx.at(NOON_MS))) == ["2026-10"]
    await trade.arrive(now_ms=NOON_MS)
    for now_ms, closed in (
        (EDGE_MS + HOUR_MS - 1, []),
        (EDGE_MS + HOUR_MS, [NOVEMBER]),
        (EDGE_MS + HOUR_MS, []),
    ):
        assert await store.write(lambda tx, at=now_ms: payouts.close_months(tx.at(at))) == closed


# -- paying out

PAY_OUT = """
import asyncio, sys
from honeyguide.store import open_store
from honeyguide.work import items, money
async def main(url, now_ms):
    store = await open_store(url)
    print("ready", flush=True); sys.stdin.readline()
    await items.run_all(store, "test", (money.MONTHS,), lambda: now_ms)
    await store.close()
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def test_payouts_made_twice_and_by_two_processes_at_once_are_one_per_partner_and_month(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ms = EDGE_MS + 31 * DAY_MS + HOUR_MS  # December is over too
    monkeypatch.setattr(payouts, "BATCH", 7)

    async def earn(store: Store) -> list[Trade]:
        trades = [await Trade.begin(store, partners=10, cpa=101 + n) for n in range(2)]
        for trade in trades:
            for number in range(25):
                await trade.arrive(number % 9, now_ms=(NOON_MS, EDGE_MS)[number % 2])
        return trades

    with OpenStore(engine) as opened:
        trades = opened.run(earn(opened.store))
        command = [sys.executable, "-c", PAY_OUT, opened.url, str(now_ms)]
        crowd = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for process in crowd:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in crowd:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        opened.run(trades[0].close_and_pay_out(now_ms))
        assert [process.wait(60) for process in crowd] == [0, 0]
        opened.run(trades[0].close_and_pay_out(now_ms))
        expected = sorted(
            opened.ask(
                "SELECT partner_account_id, month, SUM(spent_cents) FROM partner_spend GROUP BY "
                "partner_account_id, month"
            )
        )
        found = sorted(opened.ask("SELECT account_id, month, amount_cents FROM payout"))
        assert [(who, month, int(cents)) for who, month, cents in expected] == found and len(
            found
        ) == 2 * 9 * 2
        sums = opened.run(verify(opened.store))
        assert sums.charged_cents == sums.paid_out_cents == 25 * (101 + 102)


async def test_marking_paid_and_taking_it_back_are_entries_and_an_open_one_is_not_taken_back(
    store: Store,
) -> None:
    trade = await Trade.begin(store)
    await trade.arrive(now_ms=NOON_MS)
    now_ms = EDGE_MS + 2 * HOUR_MS
    await trade.close_and_pay_out(now_ms)
    (payout,) = await trade.payouts_of()

    async def mark(reference: str) -> payouts.Payout:
        return await store.write(lambda tx: payouts.mark_paid(tx.at(now_ms), payout.id, reference))

    async def unmark() -> payouts.Payout:
        return await store.write(lambda tx: payouts.unmark_paid(tx.at(now_ms), payout.id))

    with pytest.raises(Invalid, match="not marked as paid"):
        await unmark()
    with pytest.raises(Invalid, match="reference"):
        await mark(" ")
    paid = await mark("SEPA 1")
    assert (paid.paid_ms, paid.paid_reference) == (now_ms, "SEPA 1")
    with pytest.raises(Invalid, match="already marked as paid, with reference SEPA 1"):
        await mark("SEPA 2")
    opened_again = await unmark()
    assert (opened_again.paid_ms, opened_again.paid_reference) == (None, None)
    await mark("SEPA 2")
    await verify(store)
    kinds = await trade.rows(
        "SELECT kind, debit, credit FROM transfer WHERE kind IN ('paid', 'unpaid') ORDER BY "
        "reference"
    )
    assert kinds == [
        ("paid", ledger.CLEARING, ledger.CASH),
        ("paid", ledger.CLEARING, ledger.CASH),
        ("unpaid", ledger.CASH, ledger.CLEARING),
    ]
    many = [asyncio.create_task(mark(f"SEPA {n}")) for n in range(5)]
    await asyncio.gather(*many, return_exceptions=True)
    with pytest.raises(Missing):
        await store.write(lambda tx: payouts.mark_paid(tx.at(now_ms), "nonsense", "x"))


async def test_a_payout_marked_by_twenty_at_once_is_paid_once(store: Store) -> None:
    trade = await Trade.begin(store)
    await trade.arrive(now_ms=NOON_MS)
    now_ms = EDGE_MS + 2 * HOUR_MS
    await trade.close_and_pay_out(now_ms)
    (payout,) = await trade.payouts_of()
    marks = [
        store.write(lambda tx, n=n: payouts.mark_paid(tx.at(now_ms), payout.id, f"r{n}"))
        for n in range(20)
    ]
    outcomes = await asyncio.gather(*marks, return_exceptions=True)
    assert sum(isinstance(outcome, payouts.Payout) for outcome in outcomes) == 1
    refused = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert {getattr(refusal, "code", refusal) for refusal in refused} == {"already_paid"}
    assert await trade.rows("SELECT COUNT(*) FROM transfer WHERE kind = 'paid'") == [(1,)]
