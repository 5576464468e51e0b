"""The notification icon on both engines: it counts what nobody has read, says where to look, and
shows the emails as they were sent.
"""

from __future__ import annotations

import re
import time

from tests.support.dispatcher import ReceiverThread
from tests.support.service import Service
from tests.support.web import Operator, operator, text_of


def notices(page: str) -> str:
    """What the page says, without its menu."""
    return text_of(page.partition('<main class="main"')[2])


def unread(who: Operator) -> str:
    """What the icon at the top of every page says; the menu's entry must say the same."""
    page = who.web.get("/settings").text
    links = re.findall(r'href="/notices">(.*?)</a>', page, re.DOTALL)
    at_top, in_menu = (text_of(link).split() for link in links)
    assert [each for each in at_top if each.isdigit()] == [
        each for each in in_menu if each.isdigit()
    ]
    return " ".join(at_top)


def test_a_webhook_that_is_switched_off_rings_until_it_is_read(service: Service) -> None:
    alice, mallory = operator(service), operator(service, "mallory")
    assert unread(alice) == "Notifications"
    with ReceiverThread(410) as receiver:
        hook = alice.post("/v2/webhooks", {"url": receiver.url, "new_referral": True}).json()[
            "webhook"
        ]["uuid"]
        alice.post(f"/v2/webhooks/{hook}/test")
        deadline = time.monotonic() + 20
        while unread(alice) == "Notifications":
            assert time.monotonic() < deadline, "nobody rang"
            time.sleep(0.05)
        assert unread(alice) == "Notifications unread: 1"
        page = alice.web.get("/notices").text
        assert f'href="/webhooks/{hook}"' in page and " New " in notices(page)
        assert receiver.url in text_of(page) and "410 Gone" in text_of(page), (
            "the email, as it was sent"
        )
        assert f"To {alice.email}" in text_of(page)
        assert alice.web.get(f"/webhooks/{hook}").status_code == 200
        assert unread(alice) == "Notifications", "looking is reading"
        again = notices(alice.web.get("/notices").text)
        assert " New " not in again and receiver.url in again, "read, and still there"
        assert receiver.url not in mallory.web.get("/notices").text
