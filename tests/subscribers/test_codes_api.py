"""A subscriber's codes over the API, and the links that carry them."""

from typing import Any

import pytest

from honeyguide.subscribers import clicks, codes
from honeyguide.subscribers.codes import CodeHolder
from tests.support.readings import in_account
from tests.support.service import Member, until

BROWSER = {"user-agent": "Mozilla/5.0 Firefox/130"}


def choose(member: Member, who: dict[str, Any], code: Any) -> Any:
    return member.post(f"{member.v1}/subscribers/{who['uuid']}/codes", {"code": code})


def adopt(member: Member, who: dict[str, Any], code: str) -> None:
    assert member.make(codes.adopt, [CodeHolder(code, who["uuid"])]) == []


def follow(member: Member, path: str, method: str = "GET") -> tuple[int, str | None]:
    answer = member.http.request(method, path, headers=BROWSER, follow_redirects=False)
    return answer.status_code, answer.headers.get("location")


def slug_of(member: Member) -> str:
    return str(member.get(f"{member.v1}/settings").json()["settings"]["slug"])


def test_codes_are_chosen_and_listed_with_their_links(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    adopt(alice, ana, "Old_7")
    made = choose(alice, ana, "Ana-B")
    assert made.status_code == 201
    shown = made.json()["code"]
    base, slug = alice.service.settings.base_url, slug_of(alice)
    assert set(shown) == {"code", "source", "created_at", "link"}
    assert (shown["code"], shown["source"]) == ("Ana-B", "chosen")
    assert shown["link"] == f"{base}/r/{slug}/Ana-B"
    listed = alice.get(f"{alice.v1}/subscribers/ana@example.org/codes").json()["codes"]
    assert listed[0] == shown
    assert [(each["code"], each["source"], each["link"]) for each in listed[1:]] == [
        ("Old_7", "imported", f"{base}/r/{slug}/Old_7"),
        (ana["ref_code"], "assigned", f"{base}/r/{ana['ref_code']}"),
    ]
    # The fields of the specification show ours.
    friend = alice.subscribe("ben@example.org", referrer_code="ana-b")
    assert friend["referrer_code"] == ana["ref_code"]
    assert alice.subscriber(ana["uuid"])["ref_code"] == ana["ref_code"]


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (None, "invalid"),
        ("ab", "invalid"),
        (7, "invalid_type"),
        ("admin", "code_reserved"),
        ("fuck-it", "code_refused"),
        ("TAKEN", "code_taken"),
    ],
    ids=str,
)
def test_what_cannot_be_chosen_is_refused(alice: Member, code: Any, word: str) -> None:
    ana, ben = (alice.subscribe(f"{name}@example.org") for name in ("ana", "ben"))
    assert choose(alice, ben, "taken").status_code == 201
    answer = choose(alice, ana, code)
    assert answer.status_code == 400, answer.text
    assert (answer.json()["code"], answer.json()["param"]) == (word, "code")


def test_the_fourth_code_of_a_year_is_refused(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    assert [choose(alice, ana, f"ana-{n}").status_code for n in range(3)] == [201] * 3
    answer = choose(alice, ana, "ana-3")
    assert (answer.status_code, answer.json()["code"]) == (400, "too_many_codes")
    assert choose(alice, ana, "ana-0").status_code == 201


# -- links


def test_a_link_with_a_further_code_leads_where_ours_does_and_counts(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    choose(alice, ana, "Ana-B")
    slug, ours = slug_of(alice), ana["ref_code"]
    _, target = follow(alice, f"/r/{ours}?utm_source=x&ref=evil")
    assert target is not None and target.endswith(f"?utm_source=x&ref={ours}")
    for code in ("Ana-B", "ANA-b", ours, ours.upper()):
        assert follow(alice, f"/r/{slug}/{code}?utm_source=x&ref=evil") == (302, target)
    assert follow(alice, f"/r/{slug}/Ana-B?utm_source=x", "HEAD") == (302, target)

    async def total(tx: Any) -> int:
        return await clicks.total(in_account(tx, alice.account_id), alice.campaign_id, ours)

    # One visitor, one hour, one click: whatever the link was.
    until(lambda: alice.service.read(total) == 1)
    alice.service.set_clock(3_700)
    follow(alice, f"/r/{slug}/Ana-B")
    until(lambda: alice.service.read(total) == 2)


def test_a_code_works_below_its_own_campaign_only(alice: Member, bob: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    choose(alice, ana, "ana-b")
    wrong = (
        f"/r/{slug_of(bob)}/ana-b",
        f"/r/{slug_of(bob)}/{ana['ref_code']}",
        "/r/nobody/ana-b",
        "/r/ana-b",
        f"/r/{slug_of(alice)}/ana-b/",
        f"/r/{slug_of(alice)}/ana-b/more",
        f"/r/{slug_of(alice)}/",
        f"/r/{slug_of(alice)}/{'x' * 5_000}",
        f"/r/{slug_of(alice)}/%00",
        f"/r/{slug_of(alice)}/%F0%9F%90%9D",
    )
    assert [(path[:60], follow(alice, path)[0]) for path in wrong] == [
        (path[:60], 404) for path in wrong
    ]


def test_links_survive_another_slug_and_end_with_their_subscriber(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    choose(alice, ana, "ana-b")
    old = slug_of(alice)
    assert follow(alice, f"/r/{old}/ana-b")[0] == 302
    new = f"new-{old}"[:60]
    assert alice.put(f"{alice.v1}/settings", {"slug": new}).status_code == 200
    for slug in (old, new):
        status, target = follow(alice, f"/r/{slug}/ana-b")
        assert (status, f"/{new}?ref={ana['ref_code']}" in str(target)) == (302, True)
    alice.delete(f"{alice.v1}/subscribers/{ana['uuid']}")
    assert [follow(alice, f"/r/{slug}/ana-b")[0] for slug in (old, new)] == [404, 404]
