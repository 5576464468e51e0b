"""Lists of subscribers: kinds, paging, meta, Link, order. v1 here; v2 serves the same lists in its
own form.
"""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.api.test_v1_subscribers import READ
from tests.support.service import ONE_ENGINE, Member

DAYS = ["2024-03-05", "2024-03-01", "2024-03-09", "2024-03-03", "2024-03-07"]


def emails(member: Member, path: str = "/subscribers", **query: object) -> list[str]:
    answer = member.get(
        f"{member.v1}{path}", params={name: str(value) for name, value in query.items()}
    )
    assert answer.status_code == 200, answer.text
    return [subscriber["email"].partition("@")[0] for subscriber in answer.json()["subscribers"]]


def meta(member: Member, path: str = "/subscribers", **query: object) -> dict[str, int]:
    return member.get(
        f"{member.v1}{path}", params={name: str(value) for name, value in query.items()}
    ).json()["meta"]  # type: ignore[no-any-return]


@pytest.fixture
def team(alice: Member) -> dict[str, dict[str, object]]:
    """Ana brought Ben and Cy, Ben brought Di; Eve came alone; Fay's referral was rejected."""
    made = {"ana": alice.subscribe("ana@example.org")}
    for name, referrer in (("ben", "ana"), ("cy", "ana"), ("di", "ben"), ("eve", None)):
        code = made[referrer]["ref_code"] if referrer else None
        made[name] = alice.subscribe(f"{name}@example.org", referrer_code=code)
    made["fay"] = alice.subscribe("fay@mailinator.com", referrer_code=made["eve"]["ref_code"])
    return made


@pytest.mark.parametrize("folded", [False, True])
def test_each_kind_lists_its_own_newest_first(
    alice: Member, team: dict[str, dict[str, object]], folded: bool
) -> None:
    if folded:
        alice.service.run_jobs()
    assert emails(alice) == emails(alice, type="all") == ["fay", "eve", "di", "cy", "ben", "ana"]
    assert emails(alice, type="referrals") == ["fay", "di", "cy", "ben"]
    assert emails(alice, type="advocates") == ["ben", "ana"]
    assert emails(alice, f"/subscribers/{team['ana']['uuid']}/referrals") == ["cy", "ben"]
    assert emails(alice, "/subscribers/ben%40example.org/referrals") == ["di"]
    assert emails(alice, "/subscribers/eve%40example.org/referrals") == ["fay"]
    assert emails(alice, "/subscribers/cy%40example.org/referrals") == []


def test_a_list_holds_reads_and_nothing_else(
    alice: Member, team: dict[str, dict[str, object]]
) -> None:
    for path in ("/subscribers", f"/subscribers/{team['ana']['uuid']}/referrals"):
        answer = alice.get(alice.v1 + path).json()
        assert answer.keys() == {"subscribers", "meta"}
        assert answer["meta"].keys() == {"per_page", "page", "total_pages", "total_subscribers"}
        for subscriber in answer["subscribers"]:
            assert set(subscriber) == READ
            assert subscriber == alice.subscriber(subscriber["uuid"])


@pytest.mark.parametrize("kind", ["", "All", "none", "referral", "all,referrals"])
def test_an_unknown_kind_is_refused(alice: Member, kind: str) -> None:
    answer = alice.get(f"{alice.v1}/subscribers", params={"type": kind})
    assert answer.status_code == 400
    assert answer.json()["param"] == "type"


def test_an_empty_list_has_no_pages(alice: Member) -> None:
    answer = alice.get(f"{alice.v1}/subscribers")
    assert answer.json() == {
        "subscribers": [],
        "meta": {"per_page": 50, "page": 1, "total_pages": 0, "total_subscribers": 0},
    }
    assert "link" not in answer.headers


def test_order_follows_created_at_and_ties_follow_creation(alice: Member) -> None:
    for day in DAYS:
        alice.subscribe(f"d{day[-2:]}@example.org", created_at=f"{day}T00:00:00Z")
    alice.subscribe("now@example.org")
    assert emails(alice) == ["now", "d09", "d07", "d05", "d03", "d01"]
    for n in range(5):
        alice.subscribe(f"t{n}@example.org", created_at="2024-03-05T00:00:00Z")
    assert emails(alice) == ["now", "d09", "d07", "t4", "t3", "t2", "t1", "t0", "d05", "d03", "d01"]


def test_equal_moments_in_other_zones_are_one_moment(alice: Member) -> None:
    for name, moment in (
        ("a", "2024-03-05T12:00:00Z"),
        ("b", "2024-03-05T14:00:00+02:00"),
        ("c", "2024-03-05T11:59:59.999Z"),
    ):
        alice.subscribe(f"{name}@example.org", created_at=moment)
    assert emails(alice) == ["b", "a", "c"]


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("per_page", [1, 2, 3, 7, 50, 200])
def test_pages_never_repeat_or_skip(alice: Member, per_page: int, folded: bool) -> None:
    for n in range(7):
        alice.subscribe(f"s{n}@example.org", created_at=f"2024-03-0{n % 3 + 1}T00:00:00Z")
    if folded:
        alice.service.run_jobs()
    whole = emails(alice)
    pages = -(-7 // per_page)
    assert [
        name for page in range(1, pages + 1) for name in emails(alice, page=page, per_page=per_page)
    ] == whole
    for page in (1, pages, pages + 1, 1_000_000_000):
        expected = {
            "per_page": per_page,
            "page": page,
            "total_pages": pages,
            "total_subscribers": 7,
        }
        assert meta(alice, page=page, per_page=per_page) == expected
    assert emails(alice, page=pages + 1, per_page=per_page) == []
    assert emails(alice, page=1_000_000_000, per_page=per_page) == []


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("1", 1),
        ("200", 200),
        ("201", 200),
        ("007", 7),
        ("9223372036854775808", 200),
        ("1" + "0" * 30, 200),
    ],
)
def test_per_page_above_200_is_served_as_200_and_meta_says_so(
    alice: Member, asked: str, served: int
) -> None:
    assert meta(alice, per_page=asked)["per_page"] == served


@pytest.mark.parametrize("name", ["page", "per_page"])
@pytest.mark.parametrize(
    "value", ["0", "-1", "abc", "1.5", "", " 1", "1e3", "+1", "٣", "0x10", "1_000", "NaN", "²"]
)
@ONE_ENGINE
def test_what_is_no_whole_number_from_one_up_is_refused(
    alice: Member, name: str, value: str
) -> None:
    for path in (f"{alice.v1}/subscribers", f"{alice.v2}/subscribers", "/v2/subscribers"):
        answer = alice.get(path, params={name: value})
        assert answer.status_code == 400
        assert answer.json()["param"] == name


@pytest.mark.parametrize(
    "page", ["1000000001", "9223372036854775807", "9223372036854775808", "1" + "0" * 30, "9" * 5000]
)
def test_a_page_beyond_a_thousand_million_is_refused(alice: Member, page: str) -> None:
    answer = alice.get(f"{alice.v1}/subscribers", params={"page": page})
    assert answer.status_code == 400
    assert answer.json()["param"] == "page"
    assert "at most 1,000,000,000" in answer.json()["error"]


def links_of(header: str) -> dict[str, str]:
    parts = (part.split(">; rel=") for part in header.split(", <"))
    return {rel.strip('"'): address.lstrip("<") for address, rel in parts}


def test_link_leads_to_first_previous_next_and_last(alice: Member) -> None:
    for n in range(5):
        alice.subscribe(f"s{n}@example.org")
    seen = {}
    for page in (1, 2, 3, 9):
        answer = alice.get(
            f"{alice.v1}/subscribers",
            params={"page": page, "per_page": 2, "type": "all", "junk": "x"},
        )
        found = links_of(answer.headers["link"])
        seen[page] = {
            rel: int(parse_qs(urlsplit(address).query)["page"][0]) for rel, address in found.items()
        }
        for address in found.values():
            assert address.startswith(f"{alice.service.url}{alice.v1}/subscribers?")
            assert parse_qs(urlsplit(address).query).keys() == {"page", "per_page", "type"}
            assert alice.get(address).status_code == 200
    assert seen == {
        1: {"first": 1, "next": 2, "last": 3},
        2: {"first": 1, "prev": 1, "next": 3, "last": 3},
        3: {"first": 1, "prev": 2, "last": 3},
        9: {"first": 1, "prev": 3, "last": 3},
    }


def test_following_next_walks_the_whole_list_once(alice: Member) -> None:
    star = alice.subscribe("star@example.org")
    for n in range(11):
        alice.subscribe(f"s{n}@example.org", referrer_code=star["ref_code"])
    address, walked = f"{alice.v1}/subscribers/star%40example.org/referrals?per_page=4", []
    while address:
        answer = alice.get(address)
        walked += [subscriber["email"] for subscriber in answer.json()["subscribers"]]
        address = links_of(answer.headers["link"]).get("next", "")
    assert walked == [f"s{n}@example.org" for n in reversed(range(11))]


def test_a_link_keeps_a_hostile_query_harmless(alice: Member) -> None:
    alice.subscribe("ana@example.org")
    answer = alice.get(f"{alice.v1}/subscribers?type=all&x=%0d%0aSet-Cookie:%20a&per_page=1")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert "Set-Cookie" not in answer.headers["link"]


def test_of_a_repeated_parameter_the_last_counts(alice: Member) -> None:
    assert (
        alice.get(f"{alice.v1}/subscribers?page=abc&page=2&per_page=3").json()["meta"]["page"] == 2
    )
    assert alice.get(f"{alice.v1}/subscribers?page=2&page=abc").status_code == 400
