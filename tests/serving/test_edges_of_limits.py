"""Numbers that documents and pages name, from both sides: one less and as many are fine, one more
is refused.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from honeyguide.accounts import key_states, passwords
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.pages.dashboard.home import overview_numbers
from honeyguide.pages.dashboard.login import switching
from honeyguide.rewards import rewards
from honeyguide.signups import group_decisions
from honeyguide.subscribers import embeds, link_parameters, notes, saved_filters, tags
from tests.support.prizes import offer
from tests.support.service import Service
from tests.support.shipments import claim
from tests.support.stores import statement
from tests.support.web import operator, text_of


def names(n: int) -> list[str]:
    return [f"name{number}" for number in range(n)]


def is_refused(unit: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    with contextlib.suppress(Invalid):
        unit(*args, **kwargs)
        return False
    return True


@pytest.mark.parametrize(
    ("what", "most"),
    [
        (lambda n: passwords.checked("aB3$" * 64 + "x" * (n - 256), email=""), 256),
        (lambda n: tags.check_tags(["t" * n]), 50),
        (lambda n: tags.check_tags(names(n)), 50),
        (lambda n: link_parameters.check(names(n), param="names"), 10),
        (lambda n: link_parameters.check(["n" * n], param="names"), 40),
        (
            lambda n: embeds.parse_origins("\n".join(f"https://{x}.example" for x in names(n))),
            20,
        ),
        (lambda n: key_states.expires_in_days(n, 0), 3_650),
        (lambda n: group_decisions.check("verified", names(n), None), 500),
    ],
    ids=[
        "password",
        "tag",
        "tags",
        "link parameters",
        "one of them",
        "origins",
        "key",
        "decisions",
    ],
)
def test_as_many_as_named_and_no_more(what: Callable[[int], Any], most: int) -> None:
    assert [is_refused(what, n) for n in (most - 1, most, most + 1)] == [False, False, True]


def test_a_password_has_ten_characters_and_a_key_lives_for_a_day_at_least() -> None:
    refused = [is_refused(passwords.checked, "tR4$kw9&zq1"[:n], email="") for n in (9, 10, 11)]
    assert refused == [True, False, False]
    assert [is_refused(key_states.expires_in_days, n, 0) for n in (0, 1)] == [True, False]
    assert key_states.expires_in_days(1, 5) == 5 + DAY_MS


def test_a_percentage_is_said_of_twenty_and_more() -> None:
    assert [overview_numbers.share(5, n) for n in (19, 20)] == ["5 of 19", "25%"]
    assert [overview_numbers.change(n + 10, n).text for n in (19, 20)] == ["10", "50%"]


@pytest.mark.parametrize("most", [2, 3])
def test_an_account_has_so_many_of_each_and_can_replace_one(
    service: Service, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    for module, name in (
        (notes, "MOST"),
        (saved_filters, "MOST"),
        (rewards, "MOST_REWARDS"),
        (switching, "MOST_OWNED"),
    ):
        monkeypatch.setattr(module, name, most)
    alice = operator(service)
    about = f"/subscribers/{alice.subscribe('ana@example.org')['uuid']}/notes"

    def save_filter(name: str) -> int:
        form = {"page": "/subscribers", "name": name, "query": "status=active"}
        alice.web.post("/subscribers/filters", **form)
        sql = statement("SELECT name FROM saved_filter WHERE account_id = :id")
        return len(service.read(lambda tx: tx.all(sql, id=alice.account_id)))

    assert [save_filter(each) for each in names(most + 1)] == [*range(1, most + 1), most]
    assert save_filter("name0") == most, "again"
    statuses = [
        alice.web.post(about, page="/settings", note=each).status_code for each in names(most + 1)
    ]
    assert statuses == [303] * most + [400]
    body = {"referrals": 1}
    made = [alice.post(f"{alice.v1}/rewards", {"name": n, **body}) for n in names(most + 1)]
    assert [each.status_code for each in made] == [201] * most + [400]
    opened = [alice.web.post("/account/new", name=name).status_code for name in names(most)]
    assert opened == [303] * (most - 1) + [400], "they own one already"


def test_a_shipment_that_waits_for_fourteen_days_stands_out(service: Service) -> None:
    alice = operator(service)
    offer(alice, kind="physical")
    mug = claim(alice, "ana@example.org")["uuid"]
    move = statement("UPDATE won_reward SET redeemed_ms = :ms WHERE id = :id")
    for days, stands_out in ((13, False), (14, True), (15, True)):
        at_ms = service.now_ms() - days * DAY_MS - 1_000
        service.write(lambda tx, at_ms=at_ms: tx.run(move, id=mug, ms=at_ms))
        page = alice.web.get("/shipments").text
        assert f"{days} days" in text_of(page)
        assert ('class="pill wait"' in page) == stands_out, days
