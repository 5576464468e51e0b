"""What signups with one code have in common: the smallest cases on both sides of each threshold,
and what holds for all groups.
"""

import cProfile
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.screening.group_signals import GroupSignup, of_group
from honeyguide.screening.signals import Signal
from tests.corpus.groups import (
    DAY,
    FIRST,
    LAST,
    MINUTE,
    START,
)

WORDS = [first + last for first, last in zip(FIRST, LAST, strict=False)]
assert len(WORDS) > 90


def came(*emails: str, every_ms: int = DAY, confirmed: bool = False) -> list[GroupSignup]:
    """A day apart, which says nothing, each from another network."""
    return [
        GroupSignup(str(at), EmailAddress(email), START + at * every_ms, f"10.0.0.{at}", confirmed)
        for at, email in enumerate(emails)
    ]


def others(count: int) -> list[str]:
    """Honest people without anything in common."""
    return [f"{word}@gmail.com" for word in WORDS[:count]]


def found_by(
    signal: Signal, signups: list[GroupSignup], known: dict[str, int] | None = None
) -> list[int]:
    """The points that each signup gets from the signal."""
    found = of_group(signups, known or {})
    return [
        sum(finding.points for finding in found[each.id] if finding.signal is signal)
        for each in signups
    ]


# -- mail domains


def at(domain: str, count: int) -> list[str]:
    return [f"{word}@{domain}" for word in reversed(WORDS[-count:])]


@pytest.mark.parametrize(
    ("same", "honest", "points"),
    [
        (1, 9, 0),
        (2, 9, 1),
        (4, 0, 1),
        (5, 0, 3),
        (5, 5, 3),
        (5, 6, 2),
        (8, 12, 2),
        (8, 13, 1),
        (30, 70, 1),
    ],
)
def test_one_uncommon_domain_weighs_more_the_more_it_makes_up(
    same: int, honest: int, points: int
) -> None:
    signups = came(*at("own.example", same), *others(honest))
    assert found_by(Signal.RARE_DOMAIN, signups) == [points] * same + [0] * honest


def test_a_domain_that_others_have_is_common() -> None:
    signups = came(*at("own.example", 10))
    assert found_by(Signal.RARE_DOMAIN, signups, {"own.example": 5}) == [0] * 10
    assert found_by(Signal.RARE_DOMAIN, signups, {"own.example": 4}) == [3] * 10
    pair = came(*at("own.example", 2))
    assert found_by(Signal.RARE_DOMAIN, pair, {"own.example": 1}) == [1, 1]
    assert found_by(Signal.RARE_DOMAIN, pair, {"own.example": 2}) == [0, 0]


def test_free_names_below_a_domain_are_the_same_domain() -> None:
    emails = [f"{word}@{word}.own.example" for word in WORDS[:10]]
    assert found_by(Signal.RARE_DOMAIN, came(*emails)) == [3] * 10
    value = of_group(came(*emails), {})["0"][0].value
    assert value == "10 of 10 at own.example"


def test_addresses_that_never_confirm_do_not_hide_those_that_do() -> None:
    paid = came(*at("own.example", 10), confirmed=True)
    hiding = [each._replace(id=f"h{each.id}") for each in came(*others(60))]
    assert found_by(Signal.RARE_DOMAIN, paid + hiding)[:10] == [3] * 10
    all_confirmed = [each._replace(is_confirmed=True) for each in paid + hiding]
    assert found_by(Signal.RARE_DOMAIN, all_confirmed)[:10] == [1] * 10


def test_colleagues_among_many_others_are_nothing() -> None:
    pair = at("own.example", 2)
    assert found_by(Signal.RARE_DOMAIN, came(*pair, *others(18)))[:2] == [1, 1]
    assert found_by(Signal.RARE_DOMAIN, came(*pair, *others(19)))[:2] == [0, 0]


def test_a_few_on_each_of_several_domains_are_a_farm() -> None:
    farm = [f"{WORDS[n]}@own{n % 4}x.example" for n in range(12)]
    assert found_by(Signal.RARE_DOMAIN, came(*farm, *others(12)))[:12] == [3] * 12
    assert found_by(Signal.RARE_DOMAIN, came(*farm, *others(13)))[:12] == [2] * 12
    assert found_by(Signal.RARE_DOMAIN, came(*farm, *others(22)))[:12] == [2] * 12
    assert found_by(Signal.RARE_DOMAIN, came(*farm, *others(23)))[:12] == [0] * 12
    few = [f"{WORDS[n]}@own{n % 3}x.example" for n in range(7)]
    assert found_by(Signal.RARE_DOMAIN, came(*few)) == [1] * 7
    two_domains = [f"{WORDS[n]}@own{n % 2}x.example" for n in range(8)]
    assert found_by(Signal.RARE_DOMAIN, came(*two_domains)) == [3] * 8


def test_nobody_at_a_usual_mailbox_is_two_points_unless_the_campaign_is_like_that() -> None:
    own = [f"{word}@{word}.example" for word in WORDS[-12:]]
    assert found_by(Signal.RARE_DOMAIN, came(*own, *others(4)))[:12] == [2] * 12
    assert found_by(Signal.RARE_DOMAIN, came(*own, *others(5)))[:12] == [0] * 12
    assert found_by(Signal.RARE_DOMAIN, came(*own[:11])) == [0] * 11
    signups = came(*own, *others(2))
    assert len(of_group(signups, {}, usual_share=0.55)["0"]) == 1
    assert of_group(signups, {}, usual_share=0.56)["0"] == []


def test_single_domains_beside_a_clear_farm_belong_to_it() -> None:
    emails = [f"{WORDS[n]}@own{n % 5}x.example" for n in range(10)]
    emails += [f"{word}@{word}.example" for word in WORDS[20:24]]
    assert found_by(Signal.RARE_DOMAIN, came(*emails)) == [3] * 14


# -- addresses


@pytest.mark.parametrize(
    ("emails", "points"),
    [
        ([f"user{n}@gmail.com" for n in range(4)], 3),
        ([f"user{n}@gmail.com" for n in range(3)], 0),
        ([f"s{n}@gmail.com" for n in (1901, 1902, 1904, 1905)], 3),
        ([f"s{n}@gmail.com" for n in (190111, 200222, 210333, 220444, 230555)], 0),
        ([f"maria.{n}@gmail.com" for n in (4821, 9134, 1207, 7751, 3902)], 3),
        ([f"maria.{n}@gmail.com" for n in (4821, 9134, 1207, 7751)], 0),
        ([f"anna{n}@gmail.com" for n in (4821, 934, 12077, 75, 3)], 3),
        ([f"mia{n}@gmail.com" for n in (4821, 934, 12077, 75, 3)], 0),
        ([f"readera{letter}@gmail.com" for letter in "bcdef"], 3),
        ([f"readera{letter}@gmail.com" for letter in "bcde"], 0),
        ([f"{word}@gmail.com" for word in ("christina", "christine", "christian", "christin")], 0),
        ([f"{FIRST[n]}{n + 30}@gmail.com" for n in range(11)], 3),
        ([f"{FIRST[n]}{n + 30}@gmail.com" for n in range(10)], 0),
        ([f"{FIRST[n]}{n * 37 % 100}@gmail.com" for n in range(11)], 0),
        (["john.smith82@gmail.com", "anna1990@gmx.de", "j.meyer@web.de", "sunnycat7@aol.com"], 0),
    ],
)
def test_addresses_that_a_program_counted_up(emails: list[str], points: int) -> None:
    assert found_by(Signal.GENERATED_ADDRESS, came(*emails)) == [points] * len(emails)


def test_a_counter_is_found_if_half_of_the_numbers_count_up() -> None:
    numbers = [*range(30, 41), *(900 - 40 * n for n in range(11))]
    emails = [f"{FIRST[n]}{number}@gmail.com" for n, number in enumerate(numbers)]
    assert found_by(Signal.GENERATED_ADDRESS, came(*emails[:21], *others(9))) == (
        [3] * 11 + [0] * 19
    )
    assert found_by(Signal.GENERATED_ADDRESS, came(*emails, *others(9))) == [0] * 31


def test_a_common_first_name_with_a_number_is_no_group() -> None:
    michaels = [f"michael{n}@gmail.com" for n in (1958, 1967, 1979, 1984, 1991, 2003)]
    assert found_by(Signal.GENERATED_ADDRESS, came(*michaels, *others(69)))[:6] == [3] * 6
    assert found_by(Signal.GENERATED_ADDRESS, came(*michaels, *others(70)))[:6] == [0] * 6


def test_letters_and_digits_at_the_same_places() -> None:
    alike = [f"{word[:5]}{n * 7919 % 900 + 100}@gmail.com" for n, word in enumerate(WORDS[:8])]
    assert found_by(Signal.GENERATED_ADDRESS, came(*alike, *others(8)))[:8] == [3] * 8
    assert found_by(Signal.GENERATED_ADDRESS, came(*alike, *others(9)))[:8] == [0] * 8
    assert found_by(Signal.GENERATED_ADDRESS, came(*alike[:7])) == [0] * 7
    numbers = [f"{n * 7919 % 9000 + 1000}@qq.com" for n in range(30)]
    assert found_by(Signal.GENERATED_ADDRESS, came(*numbers)) == [0] * 30


def test_one_pattern_with_digits_is_two_points() -> None:
    alike = [f"{FIRST[n]}.{LAST[n]}{n * 31 % 97}@gmail.com" for n in range(15)]
    assert found_by(Signal.GENERATED_ADDRESS, came(*alike, *others(10)))[:15] == [2] * 15
    assert found_by(Signal.GENERATED_ADDRESS, came(*alike, *others(11)))[:15] == [0] * 15
    assert found_by(Signal.GENERATED_ADDRESS, came(*alike[:14])) == [0] * 14
    plain = [f"{FIRST[n]}{n * 31 % 97}@gmail.com" for n in range(15)]
    assert found_by(Signal.GENERATED_ADDRESS, came(*plain, *others(2)))[:15] == [2] * 15
    assert found_by(Signal.GENERATED_ADDRESS, came(*plain, *others(3)))[:15] == [0] * 15


def test_gibberish_counts_in_a_group_but_not_behind_a_relay() -> None:
    made = ["xqkzvwt", "pgtdmbwq", "zxjvkqh", "wqpfgkd", "bvnmxzt", "qjxkwvzp"]
    signups = came(*(f"{word}@gmail.com" for word in made), *others(6))
    assert found_by(Signal.GENERATED_ADDRESS, signups) == [3] * 6 + [0] * 6
    for honest, points in ((7, 2), (14, 2), (15, 0)):
        fewer = came(*(f"{word}@gmail.com" for word in made), *others(honest))
        assert found_by(Signal.GENERATED_ADDRESS, fewer) == [points] * 6 + [0] * honest
    five = came(*(f"{word}@gmail.com" for word in made[:5]))
    assert found_by(Signal.GENERATED_ADDRESS, five) == [0] * 5
    relayed = came(*(f"{word}@privaterelay.appleid.com" for word in made))
    assert found_by(Signal.GENERATED_ADDRESS, relayed) == [0] * 6


def test_names_in_other_scripts_are_not_gibberish() -> None:
    emails = [
        f"{name}@gmail.com"
        for name in ("андрей", "ольга", "дмитрий", "谢利明", "鈴木", "μαρία", "أحمد")
    ]
    assert found_by(Signal.GENERATED_ADDRESS, came(*emails)) == [0] * 7


# -- people


@pytest.mark.parametrize(
    ("emails", "points"),
    [
        (["jo.hn@gmail.com", "john+a@gmail.com"], 1),
        (["johnsmith@gmx.de", "john.smith@web.de"], 1),
        (["jo.hn@gmail.com", "john+a@gmail.com", "j.ohn@googlemail.com"], 2),
        ([f"john+{tag}@gmail.com" for tag in ("a", "bee", "tag", "other")], 3),
        ([f"john.smith@{domain}" for domain in ("gmail.com", "gmx.de")], 1),
        ([f"john.smith@{domain}" for domain in ("gmail.com", "gmx.de", "web.de", "me.com")], 3),
        (["jonsmith@gmx.de", "jonsmith@web.de"], 1),
        (["josmith@gmx.de", "josmith@web.de"], 0),
        ([f"marketing@{word}.com" for word in WORDS[:4]], 0),
        ([f"anna@{word}.com" for word in WORDS[:4]], 0),
    ],
)
def test_one_person_with_several_addresses(emails: list[str], points: int) -> None:
    signups = came(*emails, *others(5))
    found = found_by(Signal.SEVERAL_ADDRESSES, signups)
    assert found == [points] * len(emails) + [0] * 5


# -- networks and bursts


@pytest.mark.parametrize(
    ("same", "honest", "points"),
    [
        (3, 0, 0),
        (4, 0, 1),
        (4, 16, 1),
        (4, 17, 0),
        (8, 8, 2),
        (8, 9, 1),
        (7, 0, 1),
        (10, 70, 0),
        (40, 0, 2),
    ],
)
def test_many_from_one_network_weigh_by_their_share(same: int, honest: int, points: int) -> None:
    signups = [
        each._replace(ip_network="192.0.2.1") if place < same else each
        for place, each in enumerate(came(*others(same + honest)))
    ]
    expected = [points] * same + [0] * honest
    assert found_by(Signal.MANY_FROM_ONE_NETWORK, signups) == expected


def test_a_pool_of_few_networks_is_two_points() -> None:
    def spread(over: int, count: int = 42) -> list[GroupSignup]:
        people = came(*others(count))
        return [each._replace(ip_network=f"192.0.2.{n % over}") for n, each in enumerate(people)]

    assert found_by(Signal.MANY_FROM_ONE_NETWORK, spread(14)) == [2] * 42
    assert found_by(Signal.MANY_FROM_ONE_NETWORK, spread(15)) == [0] * 42
    assert 2 in found_by(Signal.MANY_FROM_ONE_NETWORK, spread(6, 20))
    assert 2 not in found_by(Signal.MANY_FROM_ONE_NETWORK, spread(6, 19))
    unknown = [each._replace(ip_network=None) for each in came(*others(30))]
    assert found_by(Signal.MANY_FROM_ONE_NETWORK, unknown) == [0] * 30


def test_a_burst_is_one_point_for_those_in_it() -> None:
    signups = came(*others(11), every_ms=6 * MINUTE - 1)
    assert found_by(Signal.BURST, signups) == [1] * 11
    assert found_by(Signal.BURST, came(*others(11), every_ms=6 * MINUTE)) == [0] * 11
    late = [each._replace(id="late", received_ms=START + DAY) for each in signups[:1]]
    early = [each._replace(id="early", received_ms=START - DAY) for each in signups[:1]]
    assert found_by(Signal.BURST, early + signups + late) == [0] + [1] * 11 + [0]


# -- what holds for all groups

LOCAL_PARTS = st.one_of(
    st.text(min_size=1, max_size=254).filter(lambda text: "@" not in text),
    st.sampled_from(["user1", "user2", "user33", "a.b1", "xqzkvwpt", "1", "٣user", "²", "a" * 254]),
)
SIGNUPS = st.lists(
    st.builds(
        GroupSignup,
        id=st.uuids().map(str),
        email=st.builds(
            lambda local, domain: EmailAddress(f"{local}@{domain}"),
            LOCAL_PARTS,
            st.sampled_from(["gmail.com", "own.example", "x.own.example", "a.co.uk", "b", ""]),
        ),
        received_ms=st.integers(0, 2**53),
        ip_network=st.sampled_from([None, "10.0.0.1", "2001:db8::/64"]),
        is_confirmed=st.booleans(),
    ),
    max_size=60,
    unique_by=(lambda each: each.id, lambda each: each.received_ms),
)


@given(SIGNUPS, st.randoms(use_true_random=False))
def test_any_group_gets_sound_findings_in_any_order(
    signups: list[GroupSignup], rng: Random
) -> None:
    found = of_group(signups, {"own.example": 1})
    assert set(found) == {each.id for each in signups}
    for findings in found.values():
        assert len({finding.signal for finding in findings}) == len(findings)
        for signal, value, points in findings:
            assert signal.facts.is_group and 1 <= points <= signal.facts.points
            assert 0 < len(value) <= 300
    rng.shuffle(signups)
    assert of_group(signups, {"own.example": 1}) == found


@given(
    st.lists(st.sampled_from(["user1", "user2", "maria77", "xqzkvwpt", "annameyer"]), max_size=30)
)
def test_somebody_else_on_the_code_exposes_nobody(names: list[str]) -> None:
    """Only with those alike does a signup get points, so nobody can spoil a code for others."""
    before = came(*(f"{n}{name}@own{n % 3}.example" for n, name in enumerate(names)))
    stranger = GroupSignup("new", EmailAddress("ünlike@gmail.com"), START + 99 * DAY, "10.1.1.1")
    known, found = of_group(before, {}), of_group([*before, stranger], {})
    assert found["new"] == []
    for each in before:
        had = {finding.signal: finding.points for finding in known[each.id]}
        assert all(finding.points <= had.get(finding.signal, 0) for finding in found[each.id])


def test_only_the_newest_are_looked_at() -> None:
    new = [f"{word}x@gmail.com" for word in (f"{a}.{b}" for a in FIRST[:20] for b in LAST[:20])]
    signups = came(*at("own.example", 30), *new[:180])
    assert found_by(Signal.RARE_DOMAIN, signups) == [0] * 10 + [1] * 20 + [0] * 180


def test_time_grows_with_the_size_of_the_group_and_not_faster() -> None:
    """Counted in calls rather than seconds, which a busy machine stretches."""

    def calls(count: int, local: str) -> int:
        signups = came(*(f"{n}{local}{n}@d{n % 50}.example" for n in range(count)))
        profile = cProfile.Profile()
        profile.runcall(of_group, signups, {})
        return sum(entry.callcount for entry in profile.getstats())

    for local in ("user", "x1" * 120, "ä" * 250):
        counts = [calls(size, local) for size in (50, 100, 200)]
        assert all(larger < 2.6 * smaller for smaller, larger in pairwise(counts)), counts
        assert counts[-1] < 40_000
