"""What differs between a partner's readers and the newsletter's own, without a store."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.screening import look_cohorts
from honeyguide.screening.look_cohorts import CLICK, CohortReader, LinkClicks


def reader(host: str = "gmail.com", hour: int = 8, **facts: Any) -> CohortReader:
    arrived_ms = 20_000 * DAY_MS + hour * HOUR_MS
    given = {"confirmed_ms": arrived_ms + 60_000, "had_click": True, "has_left": False, **facts}
    return CohortReader(host, arrived_ms, **given)


def crowd(n: int, seed: int) -> list[CohortReader]:
    """Readers as they are, drawn at random."""
    chance = random.Random(seed)
    hosts = ["gmail.com"] * 5 + ["outlook.com"] * 3 + ["icloud.com", "example.org"]
    return [
        reader(
            chance.choice(hosts),
            chance.choice([6, 7, 8, 9, 12, 18, 20, 22]),
            confirmed_ms=20_000 * DAY_MS + 86_400_000 if chance.random() < 0.3 else None,
            had_click=chance.random() < 0.9,
            has_left=chance.random() < 0.06,
        )
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("k", "n", "of_others", "others"), [(2, 3, 1, 4), (0, 2, 2, 3), (4, 4, 0, 4)]
)
def test_the_tail_is_exact(k: int, n: int, of_others: int, others: int) -> None:
    marked = [1] * (k + of_others) + [0] * (n + others - k - of_others)
    draws = [sum(draw) for draw in combinations(marked, n)]
    expected = Fraction(sum(drawn >= k for drawn in draws), len(draws))
    assert look_cohorts.tail(k, n, of_others, others) == pytest.approx(float(expected))


def test_fakes_differ_in_host_hour_click_and_confirmation() -> None:
    fakes = [reader("parcelbox.example", 2, confirmed_ms=None, had_click=False) for _ in range(12)]
    own = [reader(hour=6 + n % 12) for n in range(500)]
    found = {each.name: each.sentence for each in look_cohorts.compare(fakes, own)}
    assert found == {
        "Mail host": "All 12 are at one host, parcelbox.example. None of the others are there.",
        "Hour they signed up, UTC": "All 12 from 02:00 to 04:00. None of the others came then.",
        "Click before the signup": "All 12 with no click before the signup. None of the others.",
        "Time to confirm": "All 12 have not confirmed yet. None of the others.",
        "Left again": "",
    }


def test_clicks_for_each_signup_are_said_and_differ_if_there_are_too_few() -> None:
    def said(*clicks: int) -> tuple[str, str]:
        ours, others = LinkClicks(*clicks[:2]), LinkClicks(*clicks[2:])
        found = look_cohorts.compare([reader()] * 12, [reader()] * 100, (ours, others))
        (click,) = (each for each in found if each.name == CLICK)
        return click.note, click.sentence

    note = "0.0 clicks for each signup. With your other partners: 4.5 clicks for each signup."
    assert said(0, 12, 516, 114) == (note, note)
    assert said(54, 12, 516, 114)[1] == ""
    assert said(0, 12, 86, 19)[1] == "", "too few others"
    assert said(1, 12, 5_000_000, 400_000)[1]
    assert said(0, 0, 516, 114) == ("", "")


def test_what_is_not_known_of_a_reader_is_not_compared() -> None:
    fakes = [reader(confirmed_ms=None, had_click=False)] * 12
    imported = [reader(confirmed_ms=None, had_click=None, has_time=False)] * 500
    assert not any(each.differs for each in look_cohorts.compare(fakes, imported))


def test_nothing_is_said_beside_too_few_readers() -> None:
    fakes = [reader("parcelbox.example", 2) for _ in range(12)]
    own = [reader() for _ in range(look_cohorts.LEAST_OTHERS - 1)]
    assert not any(each.differs for each in look_cohorts.compare(fakes, own))
    assert not any(each.differs for each in look_cohorts.compare([], own * 2))


def test_honest_readers_rarely_differ() -> None:
    """Each comparison is wrong once in 1,000 at most, so of 300 crowds hardly any."""
    own = crowd(1_000, seed=1)
    differing = sum(
        any(each.differs for each in look_cohorts.compare(crowd(12, seed), own))
        for seed in range(2, 302)
    )
    assert differing <= 4


def test_the_newest_fifty_drift_from_those_who_looked_right() -> None:
    approved = crowd(60, seed=1)
    assert look_cohorts.drifted(crowd(50, seed=2), approved) == []
    night = [reader("outlook.com", 2) for _ in range(20)]
    found = look_cohorts.drifted([*crowd(30, seed=3), *night], approved)
    assert "Hour they signed up, UTC" in {each.name for each in found}
    robots = [each._replace(had_click=False) for each in crowd(50, seed=4)]
    assert look_cohorts.drifted(robots, approved) == [], "a click asks nobody again"


def at_work(host: str, n: int, **facts: Any) -> list[CohortReader]:
    """Each at a domain of their own, which this host serves."""
    return [reader(host, domain=f"firm{k}.example", network=f"net{k}", **facts) for k in range(n)]


OWN = [
    *(reader("gmail.com", 6 + n % 12, domain="gmail.com") for n in range(400)),
    *at_work("google.com", 40),
    *at_work("outlook.com", 34),
    *(reader(f"mx{n}.example", domain=f"own{n}.example") for n in range(8)),
]


def host_sentence(readers: list[CohortReader]) -> str:
    return look_cohorts.compare(readers, OWN)[0].sentence


def test_businesses_have_the_hosts_that_businesses_have() -> None:
    assert host_sentence(at_work("google.com", 6) + at_work("outlook.com", 5)) == ""
    assert host_sentence([reader("web.de", domain="web.de") for _ in range(12)]) == ""


def test_hosts_that_none_of_the_others_have_differ_together() -> None:
    small = [each for n in range(4) for each in at_work(f"box{n}.example", 2)]
    assert "8 of 10 are at hosts with few of them." in host_sentence([*small, *OWN[:2]])
    lent = at_work("migadu.com", 5)
    assert "5 of 10 are at one host, migadu.com." in host_sentence([*lent, *OWN[:5]])


def test_one_domain_at_a_usual_host_differs_unless_it_is_an_office_or_a_school() -> None:
    def there(domain: str, networks: int) -> list[CohortReader]:
        facts = {"host": "google.com", "domain": domain}
        return [reader(**facts, network=f"net{n % networks}") for n in range(6)]

    assert "catch-all.example" in host_sentence([*there("catch-all.example", 6), *OWN[:6]])
    assert host_sentence([*there("office.example", 2), *OWN[:6]]) == ""
    assert host_sentence([*there("northfield.edu", 6), *OWN[:6]]) == ""
    assert "office.example" in host_sentence(there("office.example", 2)), "and nobody else"


def test_a_wave_after_a_mailing_and_late_readers_say_nothing() -> None:
    wave = [reader(hour=12) for _ in range(12)]
    late = [reader(confirmed_ms=20_000 * DAY_MS + 90 * HOUR_MS) for _ in range(12)]
    for readers in (wave, late):
        assert not any(each.sentence for each in look_cohorts.compare(readers, OWN)[1:4])
    imported = [each._replace(has_hour=False) for each in OWN]
    night = look_cohorts.compare([reader(hour=2) for _ in range(12)], imported)[1]
    assert (night.sentence, night.others) == ("", 0)
