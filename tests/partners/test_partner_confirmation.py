"""Where a newsletter asks subscribers to confirm, a partner's referral waits for that and for its
holding period, whichever comes last; then it is charged. On both engines.
"""

from typing import Any

import pytest

from honeyguide.partners.rules import month_of
from honeyguide.store import Store
from tests.support.embeds import Visitor, embedding
from tests.support.newsletter import Newsletter
from tests.support.partner_network import join, offer, publish
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.trade import DAY_MS, NOON_MS, Trade

DAY_S = 86_400
EMAIL = "ana@example.org"
ASKED = ("api", "signup", "magic", "embed")

SET_RULE = statement("UPDATE program SET rule = 'confirmed', is_verification_chosen = 1")

pytestmark = pytest.mark.usefixtures("roomy_network")


async def trade_with(store: Store, *, hold_days: int, needs_confirmation: bool = True) -> Trade:
    held = {"referral_pending_duration": hold_days or 1}
    trade = await Trade.begin(store, referral_pending_duration_enabled=hold_days > 0, **held)
    await trade.configure(needs_confirmation=needs_confirmation)
    await trade.listen()
    return trade


@pytest.mark.parametrize("origin", ASKED)
@pytest.mark.parametrize("hold_days", [0, 7])
async def test_a_referral_is_charged_once_confirmation_and_holding_period_are_over(
    store: Store, hold_days: int, origin: str
) -> None:
    """Confirmed on the third day, or three months after the holding period."""
    trade = await trade_with(store, hold_days=hold_days)
    due_ms = NOON_MS + hold_days * DAY_MS if hold_days else None
    early, late, never = [await trade.arrive(origin=origin) for _ in range(3)]
    for arrived in (early, late, never):
        assert await trade.referral(arrived.id) == ("pending", "awaiting_confirmation", due_ms)
    third_ms = NOON_MS + 2 * DAY_MS
    await trade.change(early.id, status="confirmed", now_ms=third_ms)
    if due_ms:
        assert await trade.referral(early.id) == ("pending", "holding_period", due_ms)
        assert await trade.outcome(early.id) == ("pending", None, None, None)
        await trade.verify_due(due_ms - 1)
        assert await trade.announced() == []
    await trade.verify_due(NOON_MS + 8 * DAY_MS)
    assert await trade.outcome(early.id) == ("verified", 300, "2026-11", None)
    assert await trade.announced() == [early.id]
    late_ms = NOON_MS + 97 * DAY_MS
    await trade.verify_due(late_ms)
    assert await trade.referral(late.id) == ("pending", "awaiting_confirmation", due_ms)
    await trade.change(late.id, status="confirmed", now_ms=late_ms)
    assert await trade.outcome(late.id) == ("verified", 300, month_of(late_ms), None)
    assert await trade.announced() == [early.id, late.id]
    assert await trade.outcome(never.id) == ("pending", None, None, None)


async def test_who_never_confirmed_under_another_spelling_is_still_new(store: Store) -> None:
    """Anybody can type the address of somebody else."""
    trade = await trade_with(store, hold_days=0)
    await trade.add_partner()
    typed = await trade.arrive(email="lena+news@gmail.com", origin="signup")
    came = await trade.arrive(partner=1, email="lena@gmail.com", origin="signup")
    assert (await trade.referral(came.id))[:2] == ("pending", "awaiting_confirmation")
    await trade.change(came.id, status="confirmed")
    assert await trade.outcome(came.id) == ("verified", 300, "2026-11", None)
    await trade.change(typed.id, status="confirmed")
    assert await trade.outcome(typed.id) == ("verified", None, "2026-11", "already_charged")


async def test_nobody_of_the_owners_own_list_is_waited_for(store: Store) -> None:
    trade = await trade_with(store, hold_days=0)
    for origin in ("import", "platform"):
        arrived = await trade.arrive(origin=origin)
        assert await trade.outcome(arrived.id) == ("verified", 300, "2026-11", None)


@pytest.mark.parametrize("origin", ["import", "platform"])
async def test_where_the_rule_asks_to_confirm_their_referrals_wait_for_the_owner(
    store: Store, origin: str
) -> None:
    """No email asks them, and the origins are all."""
    trade = await Trade.begin(store)
    await store.write(lambda tx: tx.run(SET_RULE))
    until_ms = NOON_MS + 30 * DAY_MS
    waiting, decided, there = [
        await trade.arrive(origin=origin, status=status)
        for status in ("active", "active", "confirmed")
    ]
    for arrived in (waiting, decided):
        assert not arrived.must_confirm
        assert await trade.referral(arrived.id) == ("pending", "needs_review", until_ms)
    # Their own list says that they confirmed there.
    assert await trade.outcome(there.id) == ("verified", 300, "2026-11", None)
    await trade.confirm(decided.id)
    assert await trade.outcome(decided.id) == ("verified", 300, "2026-11", None)
    later = await trade.arrive(origin=origin)
    await trade.change(later.id, status="confirmed")
    assert await trade.outcome(later.id) == ("verified", 300, "2026-11", None)
    await trade.verify_due(until_ms)
    assert (await trade.referral(waiting.id))[:2] == ("rejected", "unreviewed")


async def test_the_setting_of_the_arrival_counts(store: Store) -> None:
    """Switched on, nobody who was there waits; switched off, nobody who had to confirm is let
    go."""
    trade = await trade_with(store, hold_days=7, needs_confirmation=False)
    before = await trade.arrive()
    await trade.configure(needs_confirmation=True)
    during = await trade.arrive()
    await trade.configure(needs_confirmation=False)
    await trade.verify_due(NOON_MS + 8 * DAY_MS)
    assert await trade.outcome(before.id) == ("verified", 300, "2026-11", None)
    assert await trade.outcome(during.id) == ("pending", None, None, None)


async def test_who_leaves_before_they_confirm_costs_nothing_even_if_they_come_back(
    store: Store,
) -> None:
    trade = await trade_with(store, hold_days=0)
    arrived = await trade.arrive()
    await trade.change(arrived.id, status="unsubscribed")
    await trade.change(arrived.id, status="confirmed")
    assert await trade.outcome(arrived.id) == ("rejected", None, None, None)
    assert await trade.announced() == []


async def test_the_fee_and_the_budget_are_those_of_the_arrival(store: Store) -> None:
    trade = await trade_with(store, hold_days=0)
    first, second = [await trade.arrive() for _ in range(2)]
    await trade.offer(cpa=900, total_budget=500)
    for arrived in (first, second):
        await trade.change(arrived.id, status="confirmed")
    assert await trade.outcome(first.id) == ("verified", 300, "2026-11", None)
    assert await trade.outcome(second.id) == ("verified", 300, "2026-11", None)


async def test_the_owner_may_verify_by_hand_without_the_confirmation(store: Store) -> None:
    """`on` ends with the proof of the books, which must not complain of it."""
    trade = await trade_with(store, hold_days=7)
    arrived = await trade.arrive()
    await trade.confirm(arrived.id)
    assert await trade.outcome(arrived.id) == ("verified", 300, "2026-11", None)
    assert await trade.announced() == [arrived.id]


async def test_a_suspicion_is_shown_once_they_have_confirmed(store: Store) -> None:
    trade = await trade_with(store, hold_days=2)
    await trade.configure(screening="strong")
    near = [await trade.arrive(ip_address="198.51.100.7") for _ in range(4)][-1]
    due_ms = NOON_MS + 7 * DAY_MS
    assert await trade.referral(near.id) == ("pending", "awaiting_confirmation", due_ms)
    await trade.change(near.id, status="confirmed")
    assert await trade.referral(near.id) == ("pending", "many_from_one_network", due_ms)


def test_on_our_own_pages_the_fee_waits_for_the_link_in_the_email(
    service: Service, alice: Member, bob: Member
) -> None:
    wax = Newsletter(service, member=alice, needs_confirmation=True)
    program = offer(alice, publish(alice), slug="wax-partners")
    # The third on one new code would wait for a day.
    codes = [join(each, program)["ref_code"] for each in (bob, service.member("carol"))]
    by_page, by_link, by_embed = (wax.address() for _ in range(3))
    assert wax.join(by_page, f"?partner={codes[0]}").status_code == 303
    assert wax.fill_in(f"/m/{codes[0]}", by_link).status_code == 303
    website = Visitor(alice, embedding(alice))
    assert website.sign_up(by_embed, ref=codes[1], token=website.token()).status_code == 200
    for email in (by_page, by_link, by_embed):
        row = _rows(alice, program)[email]
        assert (row["status"], row["reason"], row["charged"]) == (
            "pending",
            "awaiting_confirmation",
            None,
        )
        link = wax.confirm_link(email)
        assert wax.visitor.post(link, data=wax.fields(link)).status_code == 303
        assert _rows(alice, program)[email]["charged"] == 3
    service.run_jobs()


def _rows(alice: Member, program: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = alice.get(f"/v2/partner_programs/{program['uuid']}/referrals").json()["referrals"]
    return {row["email"]: row for row in found}


def test_who_must_confirm_is_sent_the_link_again_though_nobody_else_is(
    service: Service, alice: Member
) -> None:
    wax = Newsletter(service, member=alice, needs_confirmation=True)
    email = wax.address()
    wax.join(email)
    wax.configure(needs_confirmation=False)
    wax.later(660)  # an address is written to every ten minutes at most
    wax.join(email)
    assert len(wax.emails("confirm")) == 2
