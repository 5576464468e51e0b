"""How many referrals of a partner count before the owner looked: as many as allowed and not one
more, whoever verifies them at the same moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.screening import look_claims
from tests.support.lookers import verify_together
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import DAY_MS, NOON_MS, Trade, verify


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, pool_size=5) as store:
        yield store


def begin(opened: OpenStore, partners: int = 1, first_look: int = 10, **fields: Any) -> Trade:
    """All origins, no rule and no level: what waits waits for the look alone."""
    given = {"max_payout": 100_000, "total_budget": 1_000_000, **fields}
    trade = opened.run(Trade.begin(opened.store, partners=partners, **given))
    sql = (
        "UPDATE program SET screening = 'flexible', is_verification_chosen = 1, first_look = :n "
        "WHERE id = :id"
    )
    opened.do(sql, n=first_look, id=trade.program.id)
    return trade


def statuses(opened: OpenStore, partner_id: str = "") -> Counter[tuple[str, str | None]]:
    sql = "SELECT referral_status, referral_reason FROM subscriber WHERE partner_campaign_id "
    sql += "= :id" if partner_id else "<> :id"
    return Counter(opened.ask(sql, id=partner_id))


COUNTED = ("verified", None)
WAITS = ("pending", "awaiting_first_look")


def test_the_first_ten_count_and_the_next_wait_for_the_look(opened: OpenStore) -> None:
    trade = begin(opened)
    arrived = [opened.run(trade.arrive()) for _ in range(12)]
    opened.run(trade.verify_due(NOON_MS))
    assert statuses(opened) == {COUNTED: 10, WAITS: 2}
    assert opened.run(trade.spent()) == 10 * 300
    status, reason, due_ms = opened.run(trade.referral(arrived[-1].id))
    assert (status, reason, due_ms) == (*WAITS, NOON_MS + 30 * DAY_MS)
    opened.run(trade.verify_due(NOON_MS + 29 * DAY_MS))
    assert statuses(opened) == {COUNTED: 10, WAITS: 2}, "time alone verifies nobody"
    opened.run(trade.verify_due(NOON_MS + 30 * DAY_MS))
    assert statuses(opened) == {COUNTED: 10, ("rejected", "unreviewed"): 2}
    opened.run(verify(opened.store))


def test_a_confirmation_and_a_decision_by_hand_take_no_place_of_others(opened: OpenStore) -> None:
    trade = begin(opened, first_look=1)
    first, second, third = [opened.run(trade.arrive()) for _ in range(3)]
    opened.run(trade.confirm(first.id))
    opened.run(trade.verify_due(NOON_MS))
    assert [opened.run(trade.referral(each.id))[0] for each in (first, second, third)] == [
        "verified",
        "verified",
        "pending",
    ]
    opened.run(trade.confirm(third.id))
    assert opened.run(trade.spent()) == 3 * 300


def test_partners_with_a_common_owner_are_one_person(opened: OpenStore) -> None:
    """Also if they are so only through a third account."""
    trade = begin(opened, partners=4)
    own = "SELECT account_id, user_id FROM member"
    users = dict(opened.ask(own))
    accounts = [each.account_id for each in trade.partners]
    for account_id, user_id in (
        (accounts[1], users[accounts[0]]),
        (accounts[2], users[accounts[1]]),
    ):
        opened.do(
            "INSERT INTO member (account_id, user_id, role, created_ms) "
            "VALUES (:account_id, :user_id, 'owner', 0)",
            account_id=account_id,
            user_id=user_id,
        )
    for partner in range(4):
        for _ in range(6):
            opened.run(trade.arrive(partner))
    opened.run(trade.verify_due(NOON_MS))
    alone = trade.partners[3].id
    assert statuses(opened, alone) == {COUNTED: 6}
    assert statuses(opened) == {COUNTED: 16, WAITS: 8}


def test_thirty_fees_a_month_over_all_partners_never_looked_at(opened: OpenStore) -> None:
    trade = begin(opened, partners=5)
    for number in range(40):
        opened.run(trade.arrive(number % 5))
    opened.run(trade.verify_due(NOON_MS))
    assert statuses(opened) == {COUNTED: look_claims.MOST_FEES, WAITS: 10}
    december_ms = NOON_MS + 20 * DAY_MS
    for number in range(5):
        opened.run(trade.arrive(number, now_ms=december_ms))
    opened.run(trade.verify_due(december_ms))
    assert statuses(opened)[COUNTED] == look_claims.MOST_FEES + 5


def test_who_comes_after_the_owner_lowered_it_has_no_more_than_that(opened: OpenStore) -> None:
    trade = begin(opened, first_look=20)
    for _ in range(3):
        opened.run(trade.arrive())
    opened.run(trade.verify_due(NOON_MS))
    opened.do("UPDATE program SET first_look = 5")
    for _ in range(4):
        opened.run(trade.arrive(now_ms=NOON_MS + 1))
    opened.run(trade.verify_due(NOON_MS + 1))
    assert statuses(opened) == {COUNTED: 5, WAITS: 2}
    opened.do("UPDATE program SET first_look = 8")
    for _ in range(4):
        opened.run(trade.arrive(now_ms=NOON_MS + 2))
    opened.run(trade.verify_due(NOON_MS + 2))
    assert statuses(opened) == {COUNTED: 8, WAITS: 3}


def test_who_costs_nothing_needs_no_look(opened: OpenStore) -> None:
    trade = begin(opened, cpa=0, first_look=1)
    for _ in range(3):
        opened.run(trade.arrive())
    opened.run(trade.verify_due(NOON_MS))
    assert statuses(opened) == {COUNTED: 3}
    assert opened.ask("SELECT COUNT(*) FROM first_look") == [(0,)]


def test_a_first_look_holds_for_readers_who_come_later(opened: OpenStore) -> None:
    trade = begin(opened, first_look=2)
    opened.run(trade.arrive())
    opened.do("UPDATE program SET first_look = NULL WHERE id = :id", id=trade.program.id)
    for _ in range(3):
        opened.run(trade.arrive())
    opened.do("UPDATE program SET first_look = 1 WHERE id = :id", id=trade.program.id)
    opened.run(trade.verify_due(NOON_MS))
    assert statuses(opened) == {COUNTED: 4}
    for _ in range(2):
        opened.run(trade.arrive())
    opened.run(trade.verify_due(NOON_MS))
    assert statuses(opened) == {COUNTED: 4, WAITS: 2}, "they came when one was allowed"


def test_processes_together_count_as_many_as_are_allowed(opened: OpenStore) -> None:
    trade = begin(opened, partners=5, first_look=7)
    ids = [opened.run(trade.arrive(number % 5)).id for number in range(60)]
    verify_together(opened.url, trade.owner, ids, NOON_MS, processes=3)
    assert statuses(opened) == {COUNTED: look_claims.MOST_FEES, WAITS: 30}
    for partner in trade.partners:
        assert statuses(opened, partner.id)[COUNTED] <= 7
    assert opened.run(trade.spent()) == look_claims.MOST_FEES * 300
    counted = "SELECT SUM(counted) FROM first_look UNION ALL SELECT fees FROM first_look_month"
    assert opened.ask(counted) == [(30,), (30,)]
    opened.run(verify(opened.store))
