"""The pace of confirmation emails while a code is flooded: who comes first or often has no
advantage, and who did the work that the form asked for goes soon.
"""

from __future__ import annotations

import random

import pytest

from honeyguide.accounts.attempts import Limit
from honeyguide.kernel.clock import HOUR_MS
from honeyguide.signups import confirmations
from honeyguide.signups.confirmations import FREE, PacedEmail
from tests.support.held_emails import Link
from tests.support.readings import reading
from tests.support.service import Member

PER_LOOK = confirmations.OTHERS.most
WINDOW_MS = confirmations.OTHERS.window_ms


@pytest.fixture
def link(alice: Member) -> Link:
    return Link(alice)


@pytest.mark.parametrize(
    ("limit", "an_hour"),
    [
        (confirmations.AFTER_WORK, 200),
        (confirmations.OTHERS, 25),
        (confirmations.OTHERS_OF_ACCOUNT, 60),
    ],
)
def test_no_hour_has_more_than_the_pace(limit: Limit, an_hour: int) -> None:
    touched = HOUR_MS // limit.window_ms + 1  # the first may have begun before the hour
    assert 0.9 * an_hour <= limit.most * touched <= an_hour


def test_who_comes_first_has_no_advantage(link: Link) -> None:
    """Forty strangers wait from forty networks, and three readers come after them."""
    for number in range(FREE + 40):
        link.arrive(ip_address=f"24.1.{number}.7")
    link.release_or_cancel()
    readers = [*link.arrive(ip_address="31.2.3.4"), *link.arrive(ip_address="62.2.3.4")]
    served = set[str]()
    while len(served) < len(readers):
        strangers_wait = link.service.read(
            lambda tx: confirmations.held(reading(tx, link.tenant), link.code)
        )
        if not strangers_wait or strangers_wait[0].n == 1:
            break
        link.release_or_cancel(WINDOW_MS)
        served |= {each for each in readers if link.statuses([each]) == ["waiting"]}
    assert len(served) == 2, "before the last of those who came first"


def test_many_forms_of_one_network_count_as_one(link: Link) -> None:
    link.arrive(FREE)
    flood = link.arrive(30, ip_address="24.1.2.3")
    (reader,) = link.arrive(ip_address="31.2.3.4")
    link.release_or_cancel()
    assert link.statuses([reader]) == ["waiting"]
    assert link.statuses(flood).count("waiting") == PER_LOOK - 1


def test_networks_have_turns() -> None:
    rows = [PacedEmail(f"a{n}", "24.0.0.0/24") for n in range(50)]
    rows += [PacedEmail("b", "31.0.0.0/24"), PacedEmail("c", None)]
    order = confirmations.by_chance(rows, random.Random(1))
    assert len(order) == 52 and {"b", "c"} < set(order[:3])
    firsts = {confirmations.by_chance(rows, random.Random(seed))[0][0] for seed in range(30)}
    assert firsts == {"a", "b", "c"}


def test_an_account_has_a_pace_over_all_codes(link: Link) -> None:
    links = [link, *(Link(link.member, now_ms=link.now_ms) for _ in range(4))]
    came = [each.arrive(FREE + 10, every_ms=0) for each in links]
    for each in links:
        each.release_or_cancel()
    left = [
        each.statuses(addresses).count("held") for each, addresses in zip(links, came, strict=True)
    ]
    assert sum(10 - n for n in left) == confirmations.OTHERS_OF_ACCOUNT.most
    links[-1].release_or_cancel(WINDOW_MS)
    assert links[-1].statuses(came[-1]).count("held") == left[-1] - PER_LOOK


def test_who_did_the_work_goes_first_and_soon(link: Link) -> None:
    link.arrive(FREE + 60)
    worked = link.arrive(20)
    for each in worked:
        link.make(confirmations.put_on, link.code, link.person(each).id, has_worked=True)
    link.release_or_cancel(0)
    most = confirmations.AFTER_WORK.most
    assert link.statuses(worked).count("waiting") == most
    link.release_or_cancel(confirmations.AFTER_WORK.window_ms)
    assert link.statuses(worked) == ["waiting"] * 20


def test_of_very_many_who_wait_some_are_compared(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmations, "COMPARED", 5)
    came = link.arrive(FREE + 40)
    released = set[int]()
    for _ in range(5):
        link.release_or_cancel(WINDOW_MS)
    statuses = link.statuses(came[FREE:])
    released = {number for number, status in enumerate(statuses) if status == "waiting"}
    assert len(released) == 5 * PER_LOOK
    assert max(released) > 20, "not only the oldest"
