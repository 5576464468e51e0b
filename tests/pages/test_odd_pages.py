"""Addresses of lists with a page that is not there, or is none: the nearest page is shown, and
never that there is nothing.
"""

import re

from tests.support.service import Service
from tests.support.web import operator, run_import, text_of, upload

BEFORE = ("0", "-1", "abc", "1.5", "٣", "10⁹", "")
BEYOND = ("3", "99", "1000000000", "9" * 30)


def test_an_odd_number_is_the_nearest_page(service: Service) -> None:
    alice = operator(service)
    run_import(alice, upload(alice, "email\n" + "".join(f"r{n}@example.org\n" for n in range(60))))

    def listed(page: str) -> list[str]:
        shown = alice.web.get("/subscribers", params={"page": page}, follow_redirects=True).text
        assert "No subscribers" not in shown, page
        return re.findall(r'aria-label="Select (r\d+)@', shown)

    first, last = listed("1"), listed("2")
    assert (len(first), len(last)) == (50, 10)
    assert {page: listed(page) for page in BEFORE} == dict.fromkeys(BEFORE, first)
    assert {page: listed(page) for page in BEYOND} == dict.fromkeys(BEYOND, last)


def test_every_list_of_one_page_shows_it(partner_network) -> None:
    alice, bob = partner_network.alice, partner_network.bob
    joined = re.search(r'href="(/earnings/[0-9a-f-]{36})"', bob.web.get("/earnings").text)
    assert joined is not None
    addresses = [
        *((alice, path) for path in ("/publications", "/program", "/review?by=referrer")),
        *((bob, path) for path in ("/network", "/earnings", joined[1], "/payouts")),
    ]
    for who, path in addresses:
        as_it_is = text_of(who.web.get(path, follow_redirects=True).text)
        for page in ("0", "abc", *BEYOND):
            sign = "&" if "?" in path else "?"
            answer = who.web.get(f"{path}{sign}page={page}", follow_redirects=True)
            assert text_of(answer.text) == as_it_is, (path, page)


def test_the_log_of_a_webhook_shows_its_only_page(service: Service) -> None:
    alice = operator(service)
    webhook = alice.post(f"{alice.v1}/webhooks", {"url": "http://127.0.0.1:9/hook"}).json()
    hook = f"/webhooks/{webhook['webhook']['uuid']}"
    assert alice.web.post(f"{hook}/act", page=hook, do="test").status_code == 303
    for page in ("1", "0", *BEYOND):
        shown = text_of(alice.web.get(f"{hook}?page={page}").text)
        assert "Nothing has been sent yet." not in shown, page
