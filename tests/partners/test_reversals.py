"""What a program paid for a referral can be taken back until the month closes: to the cent, once,
and under the caps of the month in which it is paid again.
"""

import asyncio

import pytest

from honeyguide.kernel.errors import Invalid, Required
from honeyguide.partners import reversal_reasons, statements
from honeyguide.partners.statements import OWNER, PARTNER
from honeyguide.store import Store
from tests.support.readings import reads_account
from tests.support.trade import HOUR_MS, NOON_MS, Trade, on, verify

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z
NOVEMBER, DECEMBER = "2026-11", "2026-12"


async def test_a_reversal_takes_back_the_fee_and_rejects_the_referral(store: Store) -> None:
    trade = await Trade.begin(store)
    kept, gone = await trade.arrive(), await trade.arrive()
    assert await trade.reverse(gone.id, reason="other", note="Never opened one.") == [None]
    assert (await trade.spent(), await trade.earned()) == (300, 300)
    assert await trade.outcome(gone.id) == ("rejected", None, None, None)
    assert (await trade.referral(gone.id))[:2] == ("rejected", "reversed")
    assert await trade.outcome(kept.id) == ("verified", 300, NOVEMBER, None)
    assert (await verify(store)).charged_cents == 300
    (partner,) = trade.partners
    for side, account_id in ((PARTNER, partner.account_id), (OWNER, trade.owner.account_id)):
        lines = await store.read(reads_account(statements.lines, account_id), side, NOVEMBER)
        assert [(each.fee_cents, each.why_reversed) for each in lines] == [
            (300, ""),
            (300, ""),
            (-300, "Something else: Never opened one."),
        ]
        assert (
            await store.read(reads_account(statements.total_cents, account_id), side, NOVEMBER)
            == 300
        )
        table = statements.csv_of(side, lines, with_headings=True).splitlines()
        assert table[0].endswith(",reversal_reason,month_digest")
        assert ",-3.00," in table[3] and table[3].endswith("Something else: Never opened one.,")


async def test_a_charge_after_a_reversal_fits_the_step_of_the_budget(store: Store) -> None:
    """The same total occurs twice in a month then."""
    trade = await Trade.begin(store)
    first = await trade.arrive()
    await trade.reverse(first.id)
    second = await trade.arrive()
    assert (await trade.spent(), (await trade.outcome(second.id))[1]) == (300, 300)
    steps = await trade.rows(
        "SELECT fee_cents, budget_step, budget_spent_cents, partner_step, partner_spent_cents "
        "FROM charge ORDER BY budget_step"
    )
    assert steps == [(300, 1, 300, 1, 300), (-300, 2, 0, 2, 0), (300, 3, 300, 3, 300)]


async def test_verifying_again_charges_the_fee_of_the_arrival_in_the_month_of_that_moment(
    store: Store,
) -> None:
    trade = await Trade.begin(store)
    reader = await trade.arrive()
    await trade.reverse(reader.id, note="Sure?")
    await trade.offer(cpa=500)
    await trade.confirm(reader.id, now_ms=EDGE_MS + 2 * HOUR_MS)
    assert await trade.outcome(reader.id) == ("verified", 300, DECEMBER, None)
    assert (await trade.spent(NOVEMBER), await trade.spent(DECEMBER)) == (0, 300)
    assert await trade.rows("SELECT reversal_id, reversal_note FROM partner_referral") == [
        (None, None)
    ]
    # And back and forth.
    assert await trade.reverse(reader.id, now_ms=EDGE_MS + 3 * HOUR_MS) == [None]
    assert await trade.reverse(reader.id, now_ms=EDGE_MS + 3 * HOUR_MS) == ["already_reversed"]
    await trade.confirm(reader.id, now_ms=EDGE_MS + 4 * HOUR_MS)
    assert await trade.spent(DECEMBER) == 300
    await trade.close_and_pay_out(EDGE_MS + 40 * 24 * HOUR_MS)
    (payout,) = await trade.payouts_of()
    assert (payout.month, payout.amount_cents) == (DECEMBER, 300)


async def test_a_person_is_paid_for_once_unless_it_was_taken_back(store: Store) -> None:
    trade = await Trade.begin(store, partners=2)
    first = await trade.arrive(email="ann@example.org")
    await trade.erase(first.id)
    again = await trade.arrive(1, email="ann@example.org")
    assert (await trade.outcome(again.id))[3] == "already_charged"
    assert await trade.reverse(again.id) == ["not_charged"], "the second time"
    bert = await trade.arrive(email="bert@example.org")
    await trade.reverse(bert.id)
    await trade.erase(bert.id)
    again = await trade.arrive(1, email="bert@example.org")
    assert await trade.outcome(again.id) == ("verified", 300, NOVEMBER, None)


async def test_what_was_paid_for_somebody_who_was_erased_can_be_taken_back(store: Store) -> None:
    trade = await Trade.begin(store, partners=2)
    await trade.listen(partner_referral_reversed=True)
    ann = await trade.arrive(email="ann@example.org")
    await trade.erase(ann.id)
    assert await trade.reverse(ann.id, note="Ann is a robot.") == [None]
    assert await trade.reverse(ann.id) == ["already_reversed"]
    assert (await trade.outcome(ann.id))[:2] == ("rejected", None)
    assert (await trade.spent(), await trade.earned()) == (0, 0)
    days = "SELECT SUM(verified), SUM(rejected), SUM(reversed) FROM program_day"
    assert [tuple(row) for row in await trade.rows(days)] == [(0, 0, 1)]
    # Nothing is kept about her, also not what the owner wrote.
    ((body,),) = await trade.rows("SELECT body FROM event")
    assert '"reason":"robot"' in body and '"email"' not in body and "Ann" not in body
    for sql in (
        "SELECT reversal_note FROM partner_referral",
        "SELECT note FROM referral_decision WHERE reason = 'reversed'",
    ):
        assert [tuple(row) for row in await trade.rows(sql)] == [(None,)], sql
    again = await trade.arrive(1, email="ann@example.org")
    assert await trade.outcome(again.id) == ("verified", 300, NOVEMBER, None)


async def test_a_reached_budget_stays_reached_until_it_is_raised(store: Store) -> None:
    trade = await Trade.begin(store, total_budget=600)
    first, second = await trade.arrive(), await trade.arrive()
    assert await trade.reached()
    await trade.reverse(first.id)
    assert await trade.reached() and await trade.spent() == 300
    third = await trade.arrive()
    assert (await trade.outcome(third.id))[3] == "budget_spent"
    await trade.offer(total_budget=601)
    fourth = await trade.arrive()
    assert (await trade.outcome(fourth.id))[1] == 300
    # A cap lowered below what is spent stops charges, not reversals.
    await trade.offer(total_budget=1, max_payout=1)
    assert await trade.reverse(second.id, fourth.id) == [None, None]
    assert (await trade.spent(), await trade.earned()) == (0, 0)


async def test_the_cap_of_a_partner_has_room_again(store: Store) -> None:
    trade = await Trade.begin(store, max_payout=300)
    first, second = await trade.arrive(), await trade.arrive()
    assert (await trade.outcome(second.id))[3] == "partner_cap"
    await trade.reverse(first.id)
    third = await trade.arrive()
    assert (await trade.outcome(third.id))[1] == 300


async def test_nothing_can_be_taken_back_after_the_month_has_closed(store: Store) -> None:
    trade = await Trade.begin(store, partners=2)
    first, second = await trade.arrive(), await trade.arrive(1)
    # In the first hour of December, November is still open.
    assert await trade.reverse(first.id, now_ms=EDGE_MS + 1) == [None]
    assert await trade.spent(NOVEMBER) == 300
    await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
    assert await trade.reverse(second.id, now_ms=EDGE_MS + HOUR_MS) == ["month_closed"]
    # Everything of the first partner was reversed: there is nothing to pay out.
    assert await trade.payouts_of(0) == []
    assert [each.amount_cents for each in await trade.payouts_of(1)] == [300]


async def test_what_cannot_be_reversed_is_left_alone_beside_what_can(store: Store) -> None:
    held = {"referral_pending_duration_enabled": True}
    trade = await Trade.begin(store, **held)
    pending, charged = await trade.arrive(), await trade.arrive()
    await trade.confirm(charged.id)
    asked = [pending.id, charged.id, charged.id]
    assert await trade.reverse(*asked) == ["not_charged", None, None]
    assert await trade.spent() == 0
    other = await Trade.begin(store)
    theirs = await other.arrive()
    assert await trade.reverse(theirs.id) == ["not_found"]
    assert (await other.spent(), await other.outcome(theirs.id)) == (
        300,
        ("verified", 300, NOVEMBER, None),
    )


def test_many_reverse_and_verify_the_same_referrals_at_once() -> None:
    """One result for each, whoever came first."""

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=2, total_budget=100_000, max_payout=100_000)
        readers = [(await trade.arrive(number % 2)).id for number in range(6)]
        for turn in range(5):
            outcomes = await asyncio.gather(
                trade.reverse(*readers),
                trade.reverse(*reversed(readers)),
                *(trade.arrive(number % 2) for number in range(4)),
                *(trade.confirm(each, now_ms=NOON_MS + turn) for each in readers[:3]),
            )
            first, second = outcomes[0], outcomes[1][::-1]
            for reader, *answers in zip(readers[3:], first[3:], second[3:], strict=True):
                assert sorted(answers, key=str) == [None, "already_reversed"], reader
            await verify(store)
            for reader in readers:
                await trade.confirm(reader)
            assert await trade.spent() == 300 * (len(readers) + 4 * (turn + 1))

    on("postgres", scenario)


def test_a_reason_is_one_of_five_and_another_one_is_said() -> None:
    assert reversal_reasons.parse("robot", None) == ("robot", None)
    assert reversal_reasons.parse("agreed", "  As we said. ") == ("agreed", "As we said.")
    for reason, note in (("other", None), ("other", "  ")):
        with pytest.raises(Required):
            reversal_reasons.parse(reason, note)
    for reason, note in (("", None), ("Robot", None), ("robot", "x" * 501), ("robot", "a\x00")):
        with pytest.raises(Invalid):
            reversal_reasons.parse(reason, note)
