"""The owner's look at a partner's readers: when it is asked for, what each answer does, and what
happens without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.kernel import actors
from honeyguide.signups import first_looks
from honeyguide.signups.first_looks import FirstLook
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.work import jobs as work
from tests.screening.test_look_claims import COUNTED, WAITS, begin, statuses
from tests.support.changes import SITE
from tests.support.items import run_items
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import DAY_MS, NOON_MS, Trade, verify


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, pool_size=5) as store:
        yield store


class Looking:
    """A program with a first look after three, and one partner."""

    def __init__(self, opened: OpenStore, **fields: Any) -> None:
        self.opened = opened
        self.trade: Trade = begin(opened, first_look=3, **fields)
        self.id = self.trade.partners[0].id

    def come(self, n: int, now_ms: int = NOON_MS) -> list[str]:
        arrived = [self.opened.run(self.trade.arrive(now_ms=now_ms)).id for _ in range(n)]
        self.opened.run(self.trade.verify_due(now_ms))
        return arrived

    def jobs(self, now_ms: int = NOON_MS) -> None:
        for job in work.first_look_jobs(SITE):
            assert isinstance(job.work, tuple)
            for items in job.work:
                self.opened.run(run_items(self.opened.store, items, now_ms))

    def card(self, now_ms: int = NOON_MS) -> FirstLook | None:
        async def find(tx: Tx) -> list[FirstLook]:
            asked, _ = await first_looks.of_account(Reading(tx, SITE, self.trade.owner, now_ms))
            return asked

        found = self.opened.run(self.opened.store.snapshot(find))
        assert len(found) <= 1
        return found[0] if found else None

    def answer(self, act: Any, now_ms: int = NOON_MS) -> None:
        async def do(tx: Tx) -> None:
            change = Change(tx, SITE, self.trade.owner, actors.member("nora"), now_ms)
            await act(change, await first_looks.get_locked(change, self.id))

        self.opened.run(self.opened.store.write(do))
        self.jobs(now_ms)
        self.opened.run(self.trade.verify_due(now_ms))

    def emails(self, kind: str) -> int:
        sql = "SELECT COUNT(*) FROM letter WHERE kind = :kind"
        return int(self.opened.ask(sql, kind=kind)[0][0])


def test_the_card_comes_with_the_last_that_counts_without_a_look(opened: OpenStore) -> None:
    """Its holding period may still run."""
    looking = Looking(opened, referral_pending_duration_enabled=True, referral_pending_duration=7)
    looking.come(2)
    looking.jobs()
    assert looking.card() is None
    looking.come(1)
    looking.jobs()
    card = looking.card()
    assert card is not None and (card.met, card.waiting, card.pending_cents) == (3, 0, 900)
    assert card.third_button == "Reject 3"
    assert card.last_day_ms == NOON_MS + 37 * DAY_MS
    looking.jobs(NOON_MS + DAY_MS // 2)
    assert looking.emails("first_look") == 1


def test_looks_right_opens_a_hundred_and_then_a_thousand(opened: OpenStore) -> None:
    looking = Looking(opened)
    looking.come(5)
    looking.jobs()
    assert statuses(opened) == {COUNTED: 3, WAITS: 2}
    looking.answer(first_looks.approve)
    assert statuses(opened) == {COUNTED: 5} and looking.card() is None
    assert opened.ask("SELECT allowed, counted, looks FROM first_look") == [(105, 5, 1)]
    opened.do("UPDATE first_look SET allowed = 6")
    looking.come(3)
    looking.jobs()
    assert statuses(opened) == {COUNTED: 6, WAITS: 2} and looking.card() is not None
    looking.answer(first_looks.approve)
    assert opened.ask("SELECT allowed, counted, looks FROM first_look") == [(1008, 8, 2)]
    opened.run(verify(opened.store))


def test_ask_me_in_a_week_works_once(opened: OpenStore) -> None:
    looking = Looking(opened)
    looking.come(4)
    looking.jobs()

    async def postpone(change: Change, look: FirstLook) -> None:
        await first_looks.postpone(change, look.id)

    looking.answer(postpone)
    assert looking.card() is None and looking.card(NOON_MS + 6 * DAY_MS) is None
    later_ms = NOON_MS + 7 * DAY_MS
    card = looking.card(later_ms)
    assert card is not None and not card.may_postpone
    with pytest.raises(first_looks.Invalid):
        looking.answer(postpone, later_ms)
    assert statuses(opened) == {COUNTED: 3, WAITS: 1}


def test_refused_readers_are_rejected_taken_back_and_unsubscribed(opened: OpenStore) -> None:
    looking = Looking(opened)
    looking.come(5)
    looking.jobs()
    card = looking.card()
    assert card is not None and card.third_button == "Reject 2, take back $9.00"
    looking.answer(first_looks.refuse)
    assert statuses(opened) == {("rejected", "rejected_by_hand"): 2, ("rejected", "reversed"): 3}
    assert opened.ask("SELECT DISTINCT status FROM subscriber") == [("unsubscribed",)]
    assert opened.run(looking.trade.spent()) == 0 and looking.card() is None
    # Nobody who comes later counts before another look, and whoever is verified by hand stays.
    later = looking.come(1, NOON_MS + 1)
    opened.run(looking.trade.confirm(later[0], now_ms=NOON_MS + 2))
    looking.come(1, NOON_MS + 3)
    looking.jobs(NOON_MS + 3)
    found = statuses(opened)
    assert (found[WAITS], found["verified", "verified_by_hand"]) == (1, 1)
    assert looking.card(NOON_MS + 3) is not None
    opened.run(verify(opened.store))


def test_reminders_and_then_the_pause_until_the_look(opened: OpenStore) -> None:
    looking = Looking(opened)
    looking.come(4)
    looking.jobs()
    for day, emails in ((0.9, 1), (1, 2), (2, 2), (3, 3), (6.9, 3), (7, 4), (9, 4)):
        looking.jobs(NOON_MS + round(day * DAY_MS))
        assert looking.emails("first_look") == emails, day
    assert looking.emails("look_awaited") == 1
    paused_ms = NOON_MS + 9 * DAY_MS
    looking.come(1, paused_ms)
    assert statuses(opened)["rejected", "program_paused"] == 1
    looking.answer(first_looks.approve, paused_ms)
    assert looking.emails("look_awaited") == 2
    looking.come(1, paused_ms)
    assert statuses(opened)[COUNTED] == 5


def test_fifty_who_wait_pause_it_from_the_third_day_on(opened: OpenStore) -> None:
    looking = Looking(opened)
    looking.come(3 + first_looks.BUSY_WAITING)
    looking.jobs()
    looking.jobs(NOON_MS + 3 * DAY_MS - 1)
    assert looking.emails("look_awaited") == 0
    looking.jobs(NOON_MS + 3 * DAY_MS)
    assert looking.emails("look_awaited") == 1


def test_fifty_new_ones_who_differ_ask_again(opened: OpenStore) -> None:
    looking = Looking(opened)
    for n in range(30):
        opened.run(looking.trade.arrive(now_ms=NOON_MS + (n % 8) * 3_600_000))
    evening_ms = NOON_MS + DAY_MS // 2
    opened.run(looking.trade.verify_due(evening_ms))
    looking.jobs(evening_ms)
    looking.answer(first_looks.approve, evening_ms)
    assert statuses(opened) == {COUNTED: 30}
    night_ms = NOON_MS + DAY_MS + 14 * 3_600_000
    looking.come(49, night_ms)
    looking.jobs(night_ms)
    assert looking.card(night_ms) is None
    looking.come(1, night_ms)
    looking.jobs(night_ms)
    card = looking.card(night_ms)
    assert card is not None and card.allowed == card.counted == 80
    looking.come(1, night_ms)
    assert statuses(opened) == {COUNTED: 80, WAITS: 1}


def test_where_somebody_is_on_both_sides_only_an_owner_who_is_not_decides(
    opened: OpenStore,
) -> None:
    looking = Looking(opened)
    looking.come(3)
    looking.jobs()
    owner, partner = looking.trade.owner.account_id, looking.trade.partners[0].account_id
    users = dict(opened.ask("SELECT account_id, user_id FROM member"))
    referred = [id for (id,) in opened.ask("SELECT subscriber_id FROM partner_referral")]

    def decide(user_id: str) -> None:
        async def check(tx: Tx) -> None:
            change = Change(tx, SITE, looking.trade.owner, actors.member(user_id), NOON_MS)
            await first_looks.check_side(change, looking.id)
            await first_looks.check_sides(change, referred)

        opened.run(opened.store.read(check))

    def is_refused(user_id: str) -> None:
        with pytest.raises(first_looks.Invalid, match="an owner who is not in both"):
            decide(user_id)

    def add(user_id: str, account_id: str, role: str) -> None:
        opened.do(
            "INSERT INTO member (account_id, user_id, role, created_ms) "
            "VALUES (:account_id, :user_id, :role, 0)",
            account_id=account_id,
            user_id=user_id,
            role=role,
        )

    for user_id in (users[owner], "an editor"):
        decide(user_id)
    add(users[partner], owner, "editor")
    is_refused(users[partner])
    is_refused("an editor")
    decide(users[owner])
    add(users[owner], partner, "editor")
    is_refused(users[owner])
