"""Removing, blocking and leaving at the moment of a signup or of a join: one of them comes first,
and everybody agrees which.
"""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import network, program_partners
from honeyguide.partners.program_partners import Removal
from honeyguide.signups import removed_partners, signups
from honeyguide.signups.lifecycle import NewSubscriber
from tests.support.changes import SITE, changing
from tests.support.races import Work, overlapping
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, outcome
from tests.support.trade import DAY_MS, NOON_MS, Trade, publish, verify

END = Removal(ends_pending=True)


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, pool_size=5) as store:
        yield store


class Parting:
    """One partner, and what both sides may do, each as a unit of work."""

    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        self.trade = opened.run(
            Trade.begin(
                opened.store, referral_pending_duration_enabled=True, referral_pending_duration=1
            )
        )
        (self.partner,) = self.trade.partners
        self.n = 0

    def by_owner(self, unit: Any, *args: Any) -> Work:
        work = changing(unit, SITE, self.trade.owner, NOON_MS)
        return lambda tx: work(tx, *args)

    def by_partner(self, unit: Any, *args: Any) -> Work:
        tenant = Tenant(self.partner.account_id, "")
        work = changing(unit, SITE, tenant, NOON_MS)
        return lambda tx: work(tx, *args)

    @property
    def remove(self) -> Work:
        return self.by_owner(removed_partners.remove, self.partner.id, END)

    @property
    def block(self) -> Work:
        return self.by_owner(removed_partners.block, self.partner.id, END)

    @property
    def allow(self) -> Work:
        return self.by_owner(program_partners.allow, self.partner.id)

    @property
    def unblock(self) -> Work:
        return self.by_owner(program_partners.unblock, self.partner.id)

    @property
    def leave(self) -> Work:
        return self.by_partner(network.leave, self.partner.id)

    @property
    def join(self) -> Work:
        return self.by_partner(network.join, self.trade.program.id, None)

    @property
    def sign_up(self) -> Work:
        self.n += 1
        new = NewSubscriber(email=f"{self.n}@example.org", referrer_code=self.partner.ref_code)
        return self.by_owner(signups.sign_up, new)

    def do(self, work: Work) -> Any:
        return self.opened.run(self.opened.store.write(work))

    def overlapping(self, first: Work, second: Work) -> tuple[Any, Any]:
        return self.opened.run(overlapping(self.opened.store, first, second))

    def referrals(self) -> list[tuple[Any, ...]]:
        return self.opened.ask("SELECT referral_status, referral_reason FROM subscriber")

    def status(self) -> str:
        (row,) = self.opened.ask("SELECT left_ms, removed_ms FROM partner_campaign")
        is_blocked = self.opened.ask("SELECT COUNT(*) FROM partner_block")[0][0]
        states = zip(("left", "removed"), row, strict=True)
        return " ".join([name for name, ms in states if ms] + ["blocked"] * is_blocked)

    def count(self, table: str, kind: str) -> int:
        column = {"change_log": "action", "notice": "kind"}[table]
        (row,) = self.opened.ask(f"SELECT COUNT(*) FROM {table} WHERE {column} = '{kind}'")
        return int(row[0])


@pytest.fixture
def parting(opened: OpenStore) -> Parting:
    return Parting(opened)


@pytest.mark.parametrize("how", ["remove", "block"])
def test_a_signup_before_the_removal_is_ended_with_the_others(parting: Parting, how: str) -> None:
    signed_up, _ = parting.overlapping(parting.sign_up, getattr(parting, how))
    assert signed_up.referral_status == "pending"
    assert parting.referrals() == [("rejected", "partner_removed")]


@pytest.mark.parametrize("how", ["remove", "block"])
def test_a_signup_after_the_removal_does_not_count(parting: Parting, how: str) -> None:
    _, signed_up = parting.overlapping(getattr(parting, how), parting.sign_up)
    assert signed_up.referral_reason == "partner_removed"
    assert parting.referrals() == [("rejected", "partner_removed")]


def test_a_signup_before_the_partner_leaves_counts_and_one_after_does_not(
    parting: Parting,
) -> None:
    before, _ = parting.overlapping(parting.sign_up, parting.leave)
    _, back = parting.overlapping(parting.join, parting.sign_up)
    _, after = parting.overlapping(parting.leave, parting.sign_up)
    found = [each.referral_reason for each in (before, back, after)]
    assert found == ["holding_period", "holding_period", "partner_left"]


def test_whoever_comes_second_of_leaving_and_joining_decides(parting: Parting) -> None:
    parting.overlapping(parting.join, parting.leave)
    assert parting.status() == "left"
    parting.overlapping(parting.leave, parting.join)
    assert parting.status() == ""
    assert parting.opened.ask("SELECT id, ref_code FROM partner_campaign") == [
        (parting.partner.id, parting.partner.ref_code)
    ]


@pytest.mark.parametrize(("how", "state"), [("remove", "removed"), ("block", "blocked")])
def test_nobody_joins_again_past_a_removal(parting: Parting, how: str, state: str) -> None:
    parting.do(parting.leave)
    (joined, is_new), _ = parting.overlapping(parting.join, getattr(parting, how))
    assert (joined.status, is_new, parting.status()) == ("active", False, state)
    parting.do(parting.leave)
    parting.do(parting.allow if how == "remove" else parting.unblock)
    _, refused = parting.overlapping(getattr(parting, how), parting.join)
    assert refused.code == "partner_removed"
    assert parting.status() == f"left {state}"


def test_a_block_finds_what_the_partner_joins_at_that_moment(parting: Parting) -> None:
    """And whoever comes with that code."""
    trade = parting.trade
    second = parting.opened.run(_another_program(trade))
    join = parting.by_partner(network.join, second, None)
    (joined, _), _ = parting.overlapping(join, parting.block)
    new = NewSubscriber(email="late@example.org", referrer_code=joined.ref_code)
    signed_up = parting.do(parting.by_owner(signups.sign_up, new))
    assert signed_up.referral_reason == "partner_removed"
    parting.do(parting.unblock)
    third = parting.opened.run(_another_program(trade))
    _, refused = parting.overlapping(parting.block, parting.by_partner(network.join, third, None))
    assert refused.code == "partner_removed"


async def _another_program(trade: Trade) -> str:
    made = await trade.store.write(lambda tx: publish(tx.at(NOON_MS), trade.owner))
    return made.id


def test_two_removals_at_once_are_one(parting: Parting) -> None:
    parting.overlapping(parting.remove, parting.remove)
    assert parting.count("change_log", "partner_campaign.removed") == 1
    assert parting.count("notice", "partner_removed") == 1
    parting.overlapping(parting.allow, parting.allow)
    assert parting.count("change_log", "partner_campaign.allowed") == 1
    parting.overlapping(parting.block, parting.block)
    assert parting.count("change_log", "partner.blocked") == 1


def test_a_referral_that_is_verified_at_that_moment_is_charged_or_ended(parting: Parting) -> None:
    store, trade = parting.opened.store, parting.trade
    first, second = (parting.do(parting.sign_up).id for _ in range(2))
    verify_first = parting.by_owner(signups.decide, first, "verified")
    parting.overlapping(verify_first, parting.remove)
    assert parting.opened.run(trade.outcome(first))[1] == 300
    assert parting.opened.run(trade.outcome(second))[:2] == ("rejected", None)
    parting.do(parting.allow)
    third = parting.do(parting.sign_up).id
    due = changing(signups.verify_due, SITE, trade.owner, NOON_MS + 2 * DAY_MS)
    parting.overlapping(parting.remove, lambda tx: due(tx, third))
    assert parting.opened.run(trade.outcome(third))[:2] == ("rejected", None)
    parting.opened.run(verify(store))


@pytest.mark.parametrize("most_at_once", [2, removed_partners.MOST_AT_ONCE])
def test_everything_at_once_comes_to_one_result(
    parting: Parting, monkeypatch: pytest.MonkeyPatch, most_at_once: int
) -> None:
    """Arrivals, verifications, removals, leaving and joining in any order: what was ended is never
    charged, the books agree, and after the last removal nothing is pending."""
    monkeypatch.setattr(removed_partners, "MOST_AT_ONCE", most_at_once)
    chance = random.Random(11)
    moves = ["sign_up"] * 6 + ["remove", "allow", "leave", "join", "block", "unblock"]

    async def play() -> None:
        async def player(number: int) -> None:
            for turn in range(12):
                work: Work = getattr(parting, chance.choice(moves))
                came_to = await outcome(parting.opened.store.write(work))
                if isinstance(came_to, Exception):
                    assert isinstance(came_to, Invalid), came_to
                    assert came_to.code in ("partner_removed", "partner_blocked")
                if turn % 4 == number:
                    await parting.trade.verify_due(NOON_MS + chance.choice([0, 2]) * DAY_MS)

        await asyncio.gather(*(player(number) for number in range(4)))
        await parting.opened.store.write(parting.remove)
        await parting.trade.verify_due(NOON_MS)

    parting.opened.run(play())
    found = parting.opened.ask(
        "SELECT s.referral_status, s.referral_reason, r.charged_cents, r.decided_ms "
        "FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id"
    )
    assert len(found) > 10
    for status, reason, charged, decided_ms in found:
        assert decided_ms is not None and status in ("verified", "rejected")
        assert (charged is not None) == (status == "verified"), (status, reason, charged)
        assert status == "verified" or reason in ("partner_removed", "partner_left")
    sums = parting.opened.run(verify(parting.opened.store))
    assert sums.charged_cents == sum(row[2] or 0 for row in found)
