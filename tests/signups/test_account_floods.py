"""An account is flooded when more than 500 of a day are not confirmed and hardly any are: then all
its forms ask for work, and the emails go at the account's pace.
"""

from __future__ import annotations

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.signups import account_floods, confirmations
from honeyguide.signups.account_floods import FloodChange
from tests.support.changes import SITE
from tests.support.held_emails import Link
from tests.support.readings import reading
from tests.support.service import Member

FEW = 20


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_floods, "UNCONFIRMED", FEW)


@pytest.fixture
def links(alice: Member) -> list[Link]:
    """None of them is flooded alone."""
    first = Link(alice)
    return [first, *(Link(alice, now_ms=first.now_ms) for _ in range(2))]


def changes(link: Link, *, after_ms: int = 0) -> list[bool]:
    """What the job finds for this account, and saves."""
    service, now_ms = link.service, link.now_ms + after_ms
    found: list[FloodChange] = service.read(
        lambda tx: account_floods.changes(tx.at(now_ms), most=100)
    )
    mine = [each for each in found if each.account_id == link.member.account_id]
    for each in mine:
        service.write(lambda tx, each=each: account_floods.save(tx.at(now_ms), SITE, each))
    return [each.is_flooded for each in mine]


def is_flooded(link: Link) -> bool:
    at_ms = link.now_ms
    return (
        link.service.read(
            lambda tx: confirmations.count_flood(reading(tx, link.tenant, now_ms=at_ms), link.code)
        )
        is not None
    )


def come(links: list[Link], each: int) -> list[str]:
    now_ms = max(link.now_ms for link in links)
    came = list[str]()
    for link in links:
        link.now_ms = now_ms
        came += link.arrive(each, every_ms=1)
    for link in links:
        link.now_ms = now_ms + each
    return came


def test_an_account_is_flooded_over_many_codes_until_the_day_is_over(links: list[Link]) -> None:
    come(links, FEW // len(links))
    assert changes(links[0]) == []
    come(links, 2)
    assert not any(map(is_flooded, links))
    assert changes(links[0]) == [True]
    assert changes(links[0]) == [], "once"
    assert all(map(is_flooded, links))
    assert changes(links[0], after_ms=DAY_MS) == [False]
    assert not any(map(is_flooded, links))


def test_it_is_not_if_one_in_six_confirms(links: list[Link]) -> None:
    came = come(links, 10)
    links[0].confirm(*came[:5])
    assert changes(links[0]) == []
    come(links, 1)
    assert changes(links[0]) == [True]


def test_emails_of_a_flooded_account_go_at_its_pace(links: list[Link]) -> None:
    come(links, 8)
    assert changes(links[0]) == [True]
    came = links[1].arrive(15)
    assert links[1].statuses(came) == ["held"] * 15
    links[1].release_or_cancel()
    assert links[1].statuses(came).count("waiting") == confirmations.OTHERS.most
    assert changes(links[1], after_ms=DAY_MS) == [False]
    links[1].release_or_cancel()
    assert links[1].statuses(came) == ["waiting"] * 15
