"""Who goes before the fee is decided, and who bounced or complained after it."""

from typing import Any

import pytest

from honeyguide.kernel import actors
from honeyguide.kernel.errors import Missing, Required
from honeyguide.partners import ledger, public_figures
from honeyguide.screening import screening_lists
from honeyguide.screening.team_acts import TeamAct
from honeyguide.signups import departures, group_decisions, signups
from honeyguide.signups.group_decisions import GroupDecision
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.store import Store
from honeyguide.store.tx import timed
from honeyguide.subscribers.reasons import Reason
from tests.support.changes import API_KEY, SITE, changing
from tests.support.readings import in_account
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import DAY_MS, NOON_MS, Trade, on

TEAM, JOB = actors.member("0190b000-0000-7000-8000-000000000001"), actors.job("sync with kit")
HOLD_DAYS = 14
LATER_MS = NOON_MS + DAY_MS
DEADLINE_MS = NOON_MS + (HOLD_DAYS + 30) * DAY_MS
GONE = SubscriberChanges(status="unsubscribed")
ENDED, LEFT = ("pending", "ended_by_team"), ("rejected", "left_during_hold")


async def begin(store: Store, *, hold: bool = True, **fields: Any) -> Trade:
    return await Trade.begin(
        store,
        referral_pending_duration_enabled=hold,
        referral_pending_duration=HOLD_DAYS,
        **fields,
    )


async def act(
    trade: Trade, unit: Any, *given: Any, actor: Any = TEAM, at_ms: int = LATER_MS
) -> Any:
    return await trade.store.write(changing(unit, SITE, trade.owner, at_ms, actor=actor), *given)


async def block(change: Any, subscriber_id: str) -> None:
    (email,) = await change.all(
        statement("SELECT email FROM subscriber WHERE id = :id"), id=subscriber_id
    )
    entry = screening_lists.parse_entry(SITE, email[0], param="email")
    await signups.block(change, [entry])


async def end(trade: Trade, reader_id: str, how: TeamAct) -> None:
    if how is TeamAct.UNSUBSCRIBED:
        await act(trade, signups.update, reader_id, GONE)
    elif how is TeamAct.BLOCKED:
        await act(trade, block, reader_id)
    else:
        await act(trade, signups.erase, reader_id)


async def reject(trade: Trade, reader_id: str, note: str | None) -> None:
    async def unit(change: Any) -> None:
        await signups.decide(change, reader_id, "rejected", note=note)

    await act(trade, unit, at_ms=LATER_MS + DAY_MS)


async def state(trade: Trade, reader_id: str) -> tuple[str, str | None]:
    return (await trade.referral(reader_id))[:2]


async def ended(trade: Trade) -> list[departures.EndedFee]:
    return await trade.store.read(
        lambda tx: departures.ended(in_account(tx, trade.owner.account_id))
    )


async def returned(trade: Trade) -> list[tuple[str, str]]:
    closed = await trade.store.read(ledger.last_closed)
    found = await trade.store.read(
        lambda tx: departures.returned(
            in_account(tx, trade.owner.account_id), trade.program.id, closed
        )
    )
    return [(each.subscriber_id, each.how.value) for each in found]


@pytest.mark.parametrize("how", TeamAct)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_member_does_ends_no_fee_without_a_decision_that_says_why(
    engine: str, how: TeamAct
) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        rejected, paid, waits = [(await trade.arrive()).id for _ in range(3)]
        for each in (rejected, paid, waits):
            await end(trade, each, how)
            assert await trade.referral(each) == (*ENDED, DEADLINE_MS)
        assert {(each.subscriber_id, each.team_act) for each in await ended(trade)} == {
            (each, how.value) for each in (rejected, paid, waits)
        }
        await trade.verify_due(NOON_MS + (HOLD_DAYS + 1) * DAY_MS)
        assert await trade.spent() == 0

        with pytest.raises(Required):
            await reject(trade, rejected, None)
        await reject(trade, rejected, "A robot: x@example.org")
        assert await state(trade, rejected) == ("rejected", "rejected_by_hand")
        notes = await trade.rows(
            "SELECT note FROM referral_decision WHERE status = 'rejected' AND subscriber_id = :id",
            id=rejected,
        )
        # Of somebody who was erased only the reason is kept.
        is_erased = how is TeamAct.ERASED
        assert notes == [("A robot" if is_erased else "A robot: x@example.org",)]
        await trade.confirm(paid, now_ms=LATER_MS)
        assert (await trade.outcome(paid))[:2] == ("verified", 300)
        # Without a decision the rule of the program decides, as if nobody had done anything.
        await trade.verify_due(DEADLINE_MS - 1)
        assert await state(trade, waits) == ENDED
        await trade.verify_due(DEADLINE_MS)
        assert (await trade.outcome(waits))[:2] == ("verified", 300)
        assert await ended(trade) == []
        if is_erased:
            with pytest.raises(Missing):  # it is decided
                await reject(trade, waits, "A robot")

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_key_a_platform_or_the_reader_does_is_the_readers_act(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        key, erased, bounces, complains, own = [(await trade.arrive()).id for _ in range(5)]
        await trade.change(key, status="unsubscribed", now_ms=LATER_MS)
        await trade.erase(erased, now_ms=LATER_MS)
        await act(trade, signups.depart, bounces, Reason.BOUNCED, actor=JOB)
        await act(trade, signups.depart, complains, Reason.COMPLAINED, actor=JOB)
        await act(trade, signups.update, own, GONE, actor=actors.subscriber(own))
        assert [await state(trade, each) for each in (key, erased, own)] == [LEFT] * 3
        assert await state(trade, bounces) == ("rejected", "bounced")
        assert await state(trade, complains) == ("rejected", "complained")
        assert await ended(trade) == [] and await returned(trade) == []

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_echo_ends_nothing_and_a_complaint_does(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        echoed, erased, complains, back = [(await trade.arrive()).id for _ in range(4)]
        for each in (echoed, erased, complains, back):
            await end(trade, each, TeamAct.UNSUBSCRIBED)
        # The platform says what we told it, and a key does it again.
        await act(trade, signups.depart, echoed, Reason.LEFT_DURING_HOLD, actor=JOB)
        await trade.change(echoed, status="unsubscribed", now_ms=LATER_MS)
        await trade.erase(erased, now_ms=LATER_MS)
        assert await state(trade, echoed) == await state(trade, erased) == ENDED
        assert (await ended(trade))[1].team_act == "erased"
        await act(trade, signups.depart, complains, Reason.COMPLAINED, actor=JOB)
        assert await state(trade, complains) == ("rejected", "complained")
        # Who comes back is as before.
        await trade.change(back, status="confirmed", now_ms=LATER_MS)
        due_ms = NOON_MS + HOLD_DAYS * DAY_MS
        assert await trade.referral(back) == ("pending", "holding_period", due_ms)
        assert len(await ended(trade)) == 2

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_silence_pays_nobody_who_had_not_met_the_rule(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        sql = "UPDATE program SET rule = 'confirmed', screening = 'strong'"
        await store.write(lambda tx: tx.run(statement(sql)))
        waits, erased, confirmed = [
            (await trade.arrive(origin="magic", now_ms=NOON_MS)).id for _ in range(3)
        ]
        await trade.change(confirmed, status="confirmed", now_ms=NOON_MS)
        await end(trade, waits, TeamAct.UNSUBSCRIBED)
        await end(trade, erased, TeamAct.ERASED)
        await end(trade, confirmed, TeamAct.UNSUBSCRIBED)
        await trade.verify_due(DEADLINE_MS)
        for each in (waits, erased):
            assert await state(trade, each) == ("rejected", "unconfirmed")
        assert await state(trade, confirmed) == ("verified", None)

    on(engine, scenario)


async def test_only_a_fee_waits_for_a_decision(store: Store) -> None:
    trade = await begin(store, cpa=0)
    free = (await trade.arrive()).id
    await end(trade, free, TeamAct.BLOCKED)
    assert await state(trade, free) == ("pending", "holding_period")
    await end(trade, free, TeamAct.UNSUBSCRIBED)
    assert await state(trade, free) == LEFT
    await trade.configure(hold_days=7)
    advocate = await act(trade, signups.sign_up, NewSubscriber(email="ada@example.org"))
    code = advocate.ref_code
    friend = await act(
        trade, signups.sign_up, NewSubscriber(email="bo@example.org", referrer_code=code)
    )
    await end(trade, friend.id, TeamAct.UNSUBSCRIBED)
    assert await state(trade, friend.id) == LEFT


async def test_both_shares_are_public_figures(store: Store) -> None:
    trade = await begin(store)
    readers = [(await trade.arrive()).id for _ in range(public_figures.LEAST_DECIDED)]
    for each in readers[:3]:
        await end(trade, each, TeamAct.UNSUBSCRIBED)
    for each in readers[:2]:
        await reject(trade, each, "A robot")
    await trade.confirm(readers[2], now_ms=LATER_MS)
    await trade.change(readers[3], status="unsubscribed", now_ms=LATER_MS)
    await act(trade, signups.depart, readers[4], Reason.BOUNCED, actor=JOB)
    await act(trade, signups.depart, readers[5], Reason.COMPLAINED, actor=JOB)
    for each in readers[6:]:
        await trade.confirm(each, now_ms=LATER_MS)
    (program,) = await store.read(timed(public_figures.due, LATER_MS), most=9)
    figures = await store.read(timed(public_figures.count, LATER_MS), program)
    assert (figures.verified, figures.rejected) == (len(readers) - 5, 5)
    assert (figures.ended_by_team, figures.ended_by_readers) == (2, 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_who_bounced_or_complained_after_the_fee_can_be_taken_back(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store, hold=False)
        platform, spam, ours, moved, before, fine = [await trade.arrive() for _ in range(6)]
        assert await trade.spent() == 1_800
        await act(trade, signups.depart, platform.id, Reason.BOUNCED, actor=JOB)
        await trade.change(spam.id, status="unsubscribed", now_ms=LATER_MS)
        await act(trade, signups.depart, spam.id, Reason.COMPLAINED, actor=JOB)
        sql = (
            "INSERT INTO letter (id, account_id, kind, about_id, mailbox, waited_for, created_ms, "
            "failed_ms, bounced) VALUES (:id, :account_id, 'hub_link', :id, :mailbox, 0, :now, "
            ":now, 1)"
        )
        for reader, mailbox, now_ms in (
            (ours, ours.email, LATER_MS),
            (moved, "nobody@example.net", LATER_MS),
            (before, before.email, NOON_MS - 1),
        ):
            row = {"id": reader.id, "account_id": trade.owner.account_id, "now": now_ms}
            await store.write(
                lambda tx, row=row, mailbox=mailbox: tx.run(statement(sql), **row, mailbox=mailbox)
            )
        found = [
            (platform.id, "bounced"),
            (spam.id, "complained"),
            (ours.id, "bounced"),
        ]
        assert await returned(trade) == found
        await trade.erase(spam.id, now_ms=LATER_MS)  # what was said of them stays, not who they are
        assert await returned(trade) == found
        ids = [each for each, _ in found]
        assert await trade.reverse(*ids, reason="returned", now_ms=LATER_MS) == [None] * 3
        assert (
            await trade.reverse(*ids, reason="returned", now_ms=LATER_MS)
            == ["already_reversed"] * 3
        )
        assert await trade.spent() == 900 and await returned(trade) == []
        # A closed month is final.
        await act(trade, signups.depart, fine.id, Reason.BOUNCED, actor=JOB)
        assert await returned(trade) == [(fine.id, "bounced")]
        await trade.close_and_pay_out(NOON_MS + 31 * DAY_MS)
        assert await returned(trade) == []

    on(engine, scenario)


async def test_a_key_decides_about_the_erased_too_and_says_why(store: Store) -> None:
    trade = await begin(store)
    reader = (await trade.arrive()).id
    await end(trade, reader, TeamAct.ERASED)
    for note, expected in ((None, None), ("A robot", "rejected")):
        asked = GroupDecision("rejected", [reader], note)
        (done,) = await act(trade, group_decisions.decide_many, asked, actor=API_KEY)
        assert done.status == expected
    assert await state(trade, reader) == ("rejected", "rejected_by_hand")
