"""The picture of Home on both engines: who is in it, whose it is, days instead of people where
there are many, and what an open page gets when somebody joins."""

import re

import pytest

from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.pages.dashboard.home import home_comb
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.web import Operator, operator, run_import, text_of, upload

CELLS = re.compile(r'<use href="#c-h" class="cell (\w)')


def page(who: Operator, query: str = "") -> str:
    answer = who.web.get(f"/{query}")
    assert answer.status_code == 200
    return answer.text


def cells(html: str) -> str:
    """Their statuses, in order of the alphabet."""
    return "".join(sorted(CELLS.findall(html)))


def crowd(service: Service) -> Operator:
    """Ann, who joined long ago, brought Ben, a disposable address and another; Ben brought Cara;
    Bob's letter brought two; one came alone and one by import; one is erased."""
    alice, bob = operator(service), operator(service, "bob")
    place = join(bob, offer(alice, publish(alice), total_budget=6))
    old = iso(service.now_ms() - 60 * DAY_MS)
    ann = alice.subscribe("ann@example.org", name="Ann Lee", created_at=old)
    ben = alice.subscribe("ben@example.org", name="Ben <b>", referrer_code=ann["ref_code"])
    for email, code in (
        ("thrown@mailinator.com", ann["ref_code"]),
        ("friend@example.org", ann["ref_code"]),
        ("cara@example.org", ben["ref_code"]),
        ("p1@example.org", place["ref_code"]),
        ("p2@example.org", place["ref_code"]),
    ):
        alice.subscribe(email, referrer_code=code)
    alice.subscribe("alone@example.org")
    alice.subscribe("erased@example.org", referrer_code=ann["ref_code"])
    assert alice.delete(f"{alice.v1}/subscribers/erased@example.org").status_code == 200
    run_import(alice, upload(alice, "email\nold@example.org\n"))
    return alice


def test_everybody_who_joined_is_a_hexagon_beside_who_brought_them(service: Service) -> None:
    alice = crowd(service)
    html = page(alice)
    assert cells(html) == "n" + "v" * 5 + "x", "not the import, nor the erased, nor Ann herself"
    text = text_of(html)
    assert "Ann Lee: 3 joined, 2 verified, 1 rejected. One of them, Ben <b>, brought 1 more" in text
    assert "Ben <b>: 1 joined, 1 verified. Came through Ann Lee" in text
    assert "Bob: 2 joined, 2 verified" in text and "Not referred: 1 joined by themselves" in text
    assert html.count('<g class="src"') == 4 and '<path class="thread"' in html
    assert 'class="imported"' in html and "on the days with a flag" in text
    empty = operator(service)
    assert "Your comb starts with one person." in text_of(page(empty))
    assert "Ann" not in page(empty) and "Bob" not in page(empty)


def test_without_a_hexagon_nobody_is_asked_to_point_at_one(alice: Operator) -> None:
    run_import(alice, upload(alice, "email\nold@example.org\n"))
    html = page(alice)
    assert not cells(html) and "Point at" not in html
    alice.subscribe("new@example.org")
    assert "Point at" in page(alice) or "Initials say" in page(alice)


def test_the_list_the_table_and_the_figures_agree(service: Service) -> None:
    alice = crowd(service)
    html = page(alice, "?range=7d")
    found = re.findall(r'data-who="(\w+)".*?<b>(\d+)</b>', html, re.DOTALL)
    assert found == [("s0", "3"), ("s1", "2"), ("s2", "1"), ("none", "1")]
    assert "New subscribers 7" in text_of(html) and "Referred 6" in text_of(html)
    table = html[html.index("Show as a table") : html.index("</table>")]
    rows = re.findall(r'<th scope="row">[^<]*</th>\s*<td class="r">(\d+)</td>', table)
    assert len(rows) == 7 and sum(map(int, rows)) == 7


def test_above_the_limit_days_are_drawn_instead(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = crowd(service)
    people = cells(page(alice))
    for module, name, most in (
        (home_comb, "MOST_PEOPLE", 6),
        (home_comb, "MOST_READ", 7),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, most)
            html = page(alice)
            assert cells(html) == people, "as many of each, from the counts"
            text = text_of(html)
            assert "Subscribers: 4 joined, 3 verified, 1 rejected" in text
            assert "Partners: 2 joined, 2 verified" in text and "Ann Lee: 3" not in text
    assert "Ann Lee: 3" in text_of(page(alice))


def test_an_open_page_gets_what_is_new(service: Service) -> None:
    alice = crowd(service)
    html = page(alice)
    since = re.search(r'data-since="(\d+)"', html)
    path = re.search(r'data-home="([^"]+)"', html)
    assert since and path
    address = f"{path[1].replace('&amp;', '&')}&since="
    assert alice.web.get(address + since[1]).status_code == 204, "nobody joined since"
    service.set_clock(5)
    alice.subscribe("late@example.org")
    answer = alice.web.get(address + since[1])
    assert answer.status_code == 200 and "<html" not in answer.text
    assert len(re.findall(r'class="cell n new"', answer.text)) == 1, "only this one is new"
    assert (
        cells(answer.text) == cells(html) + "n" or len(cells(answer.text)) == len(cells(html)) + 1
    )
    assert "New subscribers 8" in text_of(answer.text)
    for since_ms in ("", "x", "-1", "9" * 30, "٣"):
        assert alice.web.get(address + since_ms).status_code == 200
    bob = operator(service, "carol")
    assert bob.web.get("/overview/new?since=0").status_code == 204, "nobody is there"
