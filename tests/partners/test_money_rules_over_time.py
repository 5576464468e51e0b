"""Money over time, on both engines: what changes while a referral waits, once per person for ever,
and the budget's latch.
"""

from typing import Any

from honeyguide.store import Store
from tests.support.changes import changing
from tests.support.readings import in_account
from tests.support.trade import DAY_MS, HOUR_MS, NOON_MS, SITE, Trade, on

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z
NOVEMBER, DECEMBER = "2026-11", "2026-12"
BUDGET_NOTICES = (
    "SELECT kind, COUNT(*) FROM notice WHERE kind LIKE 'budget%' GROUP BY kind ORDER BY kind"
)
HELD = {"referral_pending_duration_enabled": True}


# -- while a referral waits


async def test_a_fee_is_the_one_of_the_day_of_arrival(store: Store) -> None:
    trade = await Trade.begin(store, cpa=300, **HELD)
    before = await trade.arrive()
    await trade.offer(cpa=500)
    after = await trade.arrive()
    await trade.verify_due(NOON_MS + 14 * DAY_MS)
    assert [(await trade.outcome(each.id))[1] for each in (before, after)] == [300, 500]
    assert await trade.spent() == 800


async def test_a_hold_is_the_one_of_the_day_of_arrival_and_nothing_is_charged_before_its_end(
    store: Store,
) -> None:
    trade = await Trade.begin(store, referral_pending_duration=3, **HELD)
    reader = await trade.arrive()
    await trade.offer(referral_pending_duration=9, referral_pending_duration_enabled=False)
    await trade.verify_due(NOON_MS + 3 * DAY_MS - 1)
    assert await trade.outcome(reader.id) == ("pending", None, None, None)
    await trade.verify_due(NOON_MS + 3 * DAY_MS)
    assert await trade.outcome(reader.id) == ("verified", 300, NOVEMBER, None)


async def test_confirming_does_not_shorten_a_hold_of_days_and_leaving_loses_it(
    store: Store,
) -> None:
    trade = await Trade.begin(store, **HELD)
    stays, leaves, returns = [await trade.arrive() for _ in range(3)]
    for reader in (stays, leaves, returns):
        assert (await trade.change(reader.id, status="confirmed")).referral_status == "pending"
    for reader in (leaves, returns):
        await trade.change(reader.id, status="unsubscribed")
    await trade.change(returns.id, status="confirmed")
    await trade.verify_due(NOON_MS + 14 * DAY_MS)
    assert [(await trade.outcome(each.id))[:2] for each in (stays, leaves, returns)] == [
        ("verified", 300),
        ("rejected", None),
        ("rejected", None),
    ]
    await trade.confirm(returns.id)  # by hand the owner may still pay
    assert await trade.outcome(returns.id) == ("verified", 300, NOVEMBER, None)


def test_arrivals_at_a_paused_disabled_or_ended_program_cost_nothing_and_what_waits_runs_on(
    engine: str,
) -> None:
    from honeyguide.partners import programs, publications

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, **HELD)
        switch = changing(programs.switch, SITE, trade.owner, NOON_MS)
        update = changing(publications.update, SITE, trade.owner, NOON_MS)
        waiting = await trade.arrive()
        await store.write(switch, trade.program.id, on=False)
        paused = await trade.arrive()
        await store.write(switch, trade.program.id, on=True)
        off = publications.PublicationChanges(enabled_partner_program=False)
        publication_id = trade.program.publication_id
        await store.write(update, publication_id, off, None)
        disabled = await trade.arrive()
        archived_fields = publications.PublicationChanges(status="archived")
        await store.write(update, publication_id, archived_fields, None)
        archived = await trade.arrive()
        reasons = [reader.referral_reason for reader in (paused, disabled, archived)]
        assert reasons == ["program_paused", "program_paused", "publication_archived"]
        assert [reader.referral_status for reader in (paused, disabled, archived)] == [
            "rejected"
        ] * 3
        await trade.verify_due(NOON_MS + 14 * DAY_MS)
        assert (await trade.outcome(waiting.id))[:2] == ("verified", 300)
        assert await trade.spent() == 300

    on(engine, scenario)


async def test_ones_own_program_and_a_free_one_are_verified_and_never_charged(store: Store) -> None:
    from honeyguide.partners import network

    trade = await Trade.begin(store)
    join = changing(network.join, SITE, trade.owner, NOON_MS)
    own, _ = await store.write(join, trade.program.id, None)
    trade.partners.append(own)
    own = await trade.arrive(1)
    assert await trade.outcome(own.id) == ("verified", None, NOVEMBER, "own_program")
    await trade.offer(cpa=0)
    free = await trade.arrive(0)
    assert await trade.outcome(free.id) == ("verified", None, NOVEMBER, "free")
    assert await trade.spent() == 0 and not await trade.reached()


# -- once per person, ever


async def test_a_person_who_is_deleted_and_comes_back_under_any_spelling_is_not_paid_for_twice(
    store: Store,
) -> None:
    trade = await Trade.begin(store, partners=2)
    first = await trade.arrive(email="Ada.Lovelace@gmail.com")
    assert (await trade.outcome(first.id))[1] == 300
    twin = await trade.arrive(1, email="adalovelace+x@gmail.com")  # while she is here
    assert (twin.referral_status, twin.referral_reason) == ("rejected", "already_subscribed")
    await trade.confirm(twin.id)
    assert await trade.outcome(twin.id) == ("verified", None, NOVEMBER, "already_charged")
    for reader in (first, twin):
        await trade.erase(reader.id)
    for spelling in (
        "ada.lovelace@gmail.com",
        "adalovelace@googlemail.com",
        "a.d.a.lovelace+news@gmail.com",
    ):
        again = await trade.arrive(1, email=spelling, now_ms=NOON_MS + 400 * DAY_MS)
        assert (await trade.outcome(again.id))[3] == "already_charged"
        await trade.erase(again.id)
    assert await trade.spent() == 300
    other = await Trade.begin(store)
    assert (await other.outcome((await other.arrive(email="ada.lovelace@gmail.com")).id))[1] == 300


def test_a_person_erased_while_pending_is_lost_to_the_partner_and_waits_nowhere(
    engine: str,
) -> None:
    from honeyguide.partners import forecast

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, **HELD)
        reader = await trade.arrive(email="gone@example.org")
        await trade.erase(reader.id)
        assert (await trade.outcome(reader.id))[:2] == ("rejected", None)
        await trade.verify_due(NOON_MS + 30 * DAY_MS)
        earnings = await store.snapshot(
            lambda tx: forecast.earnings(
                in_account(tx, trade.partners[0].account_id, now_ms=NOON_MS), NOVEMBER
            )
        )
        assert (earnings.confirmed_cents, earnings.pending_cents, earnings.rejected_referrals) == (
            0,
            0,
            1,
        )
        again = await trade.arrive(
            email="gone@example.org"
        )  # never charged, so a true arrival may still be
        await trade.confirm(again.id)
        assert (await trade.outcome(again.id))[1] == 300

    on(engine, scenario)


# -- the budget's latch


async def test_a_budget_that_is_reached_stays_so_until_it_is_raised_above_the_highest_that_was(
    store: Store,
) -> None:
    trade = await Trade.begin(store, cpa=400, total_budget=1_000)

    async def comes(cpa: int) -> str | int | None:
        await trade.offer(cpa=cpa)
        outcome = await trade.outcome((await trade.arrive()).id)
        return outcome[1] or outcome[3]

    assert [await comes(400), await comes(400), await comes(400)] == [400, 400, "budget_spent"]
    assert await comes(100) == "budget_spent", "a smaller fee does not slip through"
    await trade.offer(total_budget=1_000)  # the same again
    assert await comes(100) == "budget_spent"
    await trade.offer(total_budget=900)  # lowered, though above what is spent
    assert await comes(100) == "budget_spent"
    await trade.offer(total_budget=500)  # lowered under it: nothing is taken back
    assert await comes(100) == "budget_spent" and await trade.spent() == 800
    await trade.offer(total_budget=800)  # raised, but only to it
    assert await comes(100) == "budget_spent"
    await trade.offer(total_budget=1_000)  # raised, but only to what was reached before
    assert await comes(100) == "budget_spent"
    await trade.offer(total_budget=1_001)
    assert not await trade.reached()
    assert await comes(201) == 201 and await trade.reached(), (
        "exactly on the budget is paid, and reaches it"
    )
    assert await comes(1) == "budget_spent"


async def test_a_budget_lowered_under_what_is_spent_takes_nothing_back_and_charges_no_more(
    store: Store,
) -> None:
    trade = await Trade.begin(store, cpa=300)
    for _ in range(5):
        await trade.arrive()
    await trade.offer(total_budget=600)
    assert await trade.spent() == 1_500 and await trade.reached(), (
        "reached at once, before any fee arrives"
    )
    assert await trade.outcome((await trade.arrive()).id) == (
        "verified",
        None,
        NOVEMBER,
        "budget_spent",
    )
    assert await trade.spent() == 1_500 and await trade.reached()
    await trade.offer(total_budget=1_800)
    assert (await trade.outcome((await trade.arrive()).id))[1] == 300


async def test_a_partners_cap_holds_by_itself_and_the_budget_outranks_it(store: Store) -> None:
    trade = await Trade.begin(store, partners=2, cpa=300, max_payout=700, total_budget=1_200)
    whys = [(await trade.outcome((await trade.arrive()).id))[3] for _ in range(3)]
    assert whys == [None, None, "partner_cap"]
    await trade.offer(max_payout=100)  # lowered under what is earned
    assert await trade.earned(0) == 600
    assert (await trade.outcome((await trade.arrive(1)).id))[3] == "partner_cap"
    await trade.offer(max_payout=900)
    assert (await trade.outcome((await trade.arrive(0)).id))[3] is None, (
        "a fee that lands exactly on the cap is paid"
    )
    assert [await trade.earned(n) for n in (0, 1)] == [900, 0] and not await trade.reached()
    assert (await trade.outcome((await trade.arrive(1)).id))[3] is None
    assert await trade.reached()
    assert (await trade.outcome((await trade.arrive(0)).id))[3] == "budget_spent", (
        "neither fits: it is the budget's no"
    )


async def test_a_new_month_has_a_new_budget_and_a_new_cap(store: Store) -> None:
    trade = await Trade.begin(store, cpa=300, max_payout=300, total_budget=300)
    for now_ms in (EDGE_MS - 1, EDGE_MS):
        assert (await trade.outcome((await trade.arrive(now_ms=now_ms)).id))[1] == 300
        assert (await trade.outcome((await trade.arrive(now_ms=now_ms)).id))[3] == "budget_spent"
        await trade.tell(now_ms)
    kinds = await trade.rows(BUDGET_NOTICES)
    assert kinds == [("budget_100", 2), ("budget_80", 2), ("budget_reached", 2)], (
        "once for each month"
    )


async def test_a_cap_that_changes_while_the_month_turns_is_the_same_cap_in_every_open_month(
    store: Store,
) -> None:
    """The clock stepped back over the edge after the owner raised the budget: the raise holds there
    too.
    """
    trade = await Trade.begin(store, cpa=300, total_budget=300)
    await trade.arrive(now_ms=EDGE_MS - 1)
    await trade.arrive(now_ms=EDGE_MS)
    assert await trade.reached(NOVEMBER) and await trade.reached(DECEMBER)
    await trade.offer(total_budget=600, now_ms=EDGE_MS + 1)
    late = await trade.arrive(now_ms=EDGE_MS - 5_000)
    assert await trade.outcome(late.id) == ("verified", 300, NOVEMBER, None)


def test_the_worked_example_of_the_documentation_is_true(engine: str) -> None:
    bob, carol, dan = 0, 1, 2

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=3, cpa=300, max_payout=900, total_budget=2_000)

        async def brings(partner: int) -> int | str | None:
            outcome = await trade.outcome((await trade.arrive(partner)).id)
            return outcome[1] or outcome[3]

        async def notices() -> list[tuple[Any, ...]]:
            await trade.tell()
            return await trade.rows(BUDGET_NOTICES)

        assert [await brings(bob) for _ in range(4)] == [300, 300, 300, "partner_cap"]
        assert await notices() == []
        assert [await brings(carol) for _ in range(3)] == [300, 300, 300]
        assert await notices() == [("budget_80", 1)]
        assert await brings(dan) == "budget_spent"
        assert await notices() == [("budget_100", 1), ("budget_80", 1), ("budget_reached", 3)]
        await trade.offer(cpa=100)
        assert await brings(dan) == "budget_spent"
        await trade.offer(total_budget=2_500)
        assert await notices() == [
            ("budget_100", 1),
            ("budget_80", 1),
            ("budget_reached", 3),
            ("budget_reopened", 3),
        ]
        assert await brings(dan) == 100 and await trade.spent() == 1_900
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
        assert [(await trade.payouts_of(who))[0].amount_cents for who in (bob, carol, dan)] == [
            900,
            900,
            100,
        ]

    on(engine, scenario)
