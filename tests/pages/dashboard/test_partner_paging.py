"""The lists of publications, programs, joined programs and payouts have pages: nothing beyond the
first is cut off, and every row is as on a short list.
"""

import re

import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.pages.dashboard.earn import earnings
from honeyguide.pages.dashboard.partners import payouts, program, publications
from tests.support import partner_network
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

COUNT = 5


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (earnings, payouts, program, publications):
        monkeypatch.setattr(module, "PER_PAGE", 2)


def pages_of(who: Operator, path: str) -> list[str]:
    """Every page of a list, along its own links."""
    found, address = [], path
    while address:
        found.append(who.web.get(address).text)
        link = re.search(r'rel="next" href="([^"]+)"', found[-1])
        address = f"{path.partition('?')[0]}{link[1].replace('&amp;', '&')}" if link else ""
    return found


def listed(pages: list[str], pattern: str) -> list[str]:
    return [name for page in pages for name in re.findall(pattern, page)]


def test_publications_and_programs_have_pages(alice: Operator) -> None:
    offered = [partner_network.offer(alice)["uuid"] for _ in range(COUNT)]
    pages = pages_of(alice, "/publications")
    assert [len(re.findall(r'<tr data-href="/pub', page)) for page in pages] == [2, 2, 1]
    # Each publication is with its program, on every page.
    assert sorted(listed(pages, r'class="btn slim" href="/program/([^"]+)"')) == sorted(offered)
    pages = pages_of(alice, "/program")
    assert len(pages) == 3
    assert sorted(listed(pages, r'<tr data-href="/program/([^"]+)"')) == sorted(offered)


def test_joined_programs_have_pages(alice: Operator, bob: Operator) -> None:
    joined = [partner_network.join(bob, partner_network.offer(alice))["uuid"] for _ in range(COUNT)]
    pages = pages_of(bob, "/earnings")
    assert len(pages) == 3
    assert sorted(listed(pages, r'<tr data-href="/earnings/([^"]+)"')) == sorted(joined)
    for page in pages:
        assert "Ended" not in text_of(page), "a program that goes on looked as if it had ended"


def test_payouts_have_pages(service: Service) -> None:
    bob = operator(service, "bob")
    insert = statement(
        "INSERT INTO payout (id, account_id, month, amount_cents, created_ms) VALUES (:id, "
        ":account_id, :month, 500, 1)"
    )
    months = [f"2020-0{number}" for number in range(1, COUNT + 1)]
    for month in months:
        row = {"id": new_id(), "account_id": bob.account_id, "month": month}
        service.write(lambda tx, row=row: tx.run(insert, **row))
    pages = pages_of(bob, "/payouts")
    assert len(pages) == 3
    assert sorted(listed(pages, r'<tr data-href="/statements/partner/([^"]+)"')) == months
