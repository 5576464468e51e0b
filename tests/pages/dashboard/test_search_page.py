"""Search finds subscribers, pages and actions, on a page and as the part that the command menu
shows, and never looks at more subscribers than it may."""

import re

import pytest

from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.dashboard import search as search_page
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.subscribers import search
from tests.support.readings import reading
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, text_of

ADMIN = statement("UPDATE account SET is_admin = :is_admin WHERE id = :account_id")


def found(who: Operator, text: str, most: int = 6) -> list[str]:
    tenant = Tenant(who.account_id, who.campaign_id)
    rows = who.service.read(lambda tx: search.find_quickly(reading(tx, tenant), text, most=most))
    return [row.email for row in rows]


def links(who: Operator, text: str) -> dict[str, str]:
    """The results by their name."""
    page = who.web.get("/search", params={"q": text, "part": "results"}).text
    return {
        text_of(name).strip(): path
        for path, name in re.findall(r'<a href="([^"]*)">.*?<span>(.*?)</span>', page, re.DOTALL)
    }


def test_a_subscriber_is_found_by_any_part_of_name_address_or_code(
    alice: Operator, bob: Operator
) -> None:
    mateo = alice.subscribe("m.torres@example.org", name="Mateo Núñez")
    alice.subscribe("matilda@example.org")
    alice.subscribe("zoe@example.org", name="Zoe Tamat")
    bob.subscribe("mats@example.org")
    assert found(alice, "Mat") == ["matilda@example.org", "zoe@example.org", "m.torres@example.org"]
    assert found(alice, "nunez") == found(alice, mateo["ref_code"]) == ["m.torres@example.org"]
    assert found(alice, "mat", most=1) == ["matilda@example.org"], "whose address begins so"
    alice.subscribe("friend@example.org", referrer_code=mateo["ref_code"])
    assert found(alice, "mat")[0] == "m.torres@example.org", "an advocate is looked for most"
    assert found(alice, "%") == [] and found(alice, "MATS@") == []
    assert alice.delete(f"{alice.v1}/subscribers/matilda@example.org").status_code == 200
    assert "matilda@example.org" not in found(alice, "mat")


def test_it_looks_at_the_best_advocates_and_the_newest_and_no_further(
    alice: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = alice.subscribe("first.1@example.org", created_at="2020-01-01T00:00:00Z")
    alice.subscribe("second.1@example.org", created_at="2020-01-02T00:00:00Z")
    alice.subscribe("third.1@example.org", created_at="2020-01-03T00:00:00Z")
    alice.subscribe("friend@example.org", referrer_code=early["ref_code"])
    monkeypatch.setattr(search, "LOOKED_AT", 2)
    assert found(alice, ".1@") == ["first.1@example.org", "third.1@example.org"]
    assert found(alice, "second") == ["second.1@example.org"], "by the index of addresses"


def test_pages_and_actions_are_found_by_what_people_call_them(
    service: Service, alice: Operator
) -> None:
    assert links(alice, "logo")["Branding"] == "/look/branding"
    assert links(alice, "api key")["API keys"] == "/account/keys"
    assert links(alice, "add reward")["Add a reward"] == "/rewards#h-new"
    assert links(alice, "look emb") == {
        "Search all subscribers for “ look emb ”": "/subscribers?q=look%20emb",
        "Embed": "/look/embed",
    }
    assert next(iter(links(alice, "look emb"))) == "Embed", "the list of subscribers comes last"
    nothing = links(alice, "qqqqqq")
    assert list(nothing.values()) == ["/subscribers?q=qqqqqq"]
    for is_admin in (0, 1):
        service.write(lambda tx, n=is_admin: tx.run(ADMIN, is_admin=n, account_id=alice.account_id))
        assert ("Administration" in links(alice, "administration")) == bool(is_admin)


def test_without_a_text_the_page_lists_all_pages_and_actions(alice: Operator) -> None:
    page = alice.web.get("/search").text
    assert "Subscribers for" not in page and 'id="found-people"' not in page
    assert all(f'href="{each.path}"' in page for each in search_page.ACTIONS)
    assert '<input class="input" id="f-q" name="q" type="search" value=""' in page
    hostile = alice.web.get("/search", params={"q": "<b>&x=1"}).text
    assert "<b>&x" not in hostile and "q=%3Cb%3E%26x%3D1" in hostile


def test_every_action_leads_to_a_page() -> None:
    paths = {page.path for page in PAGES if page.method == "GET"}
    assert {each.path.partition("#")[0] for each in search_page.ACTIONS} <= paths
