"""The notification icon on both engines: it counts what nobody has read, says where to look, and
shows the emails as they were sent.
"""

import re
import time
from pathlib import Path

from honeyguide import pages
from honeyguide.kernel.periods import day_of, days_later, start_of, zone_of
from honeyguide.mail import notifications
from honeyguide.mail.content import email
from honeyguide.mail.notification_kinds import NOTIFICATION_KINDS
from honeyguide.mail.notifications import Notification
from honeyguide.pages.dashboard.formats import date_in_words
from honeyguide.store.tx import Tx
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


def test_notifications_stand_under_their_days_in_the_operators_time_zone(service: Service) -> None:
    """In Auckland a day begins about noon by UTC."""
    carol, zone = operator(service, "carol"), zone_of("Pacific/Auckland")
    carol.web.post("/settings/time-zone", page="/settings", time_zone=zone.key)
    today = day_of(service.now_ms(), zone)
    midnights = [start_of(days_later(today, -n), zone) for n in range(3)]

    async def notify(tx: Tx) -> None:
        for at_ms in (midnights[0], *(midnight - 60_000 for midnight in midnights)):
            notification = Notification(
                account_id=carol.account_id,
                to=carol.email,
                kind="budget_80",
                once=str(at_ms),
                message=email("80% is spent", "Of the budget."),
                link="/program",
            )
            await notifications.notify(tx.at(at_ms), "", notification)

    service.write(notify)
    page = carol.web.get("/notices").text
    assert re.findall(r'<h2 id="day-\d">(.+?)</h2>|(\d\d:\d\d)</time>', page) == [
        ("Today", ""),
        ("", "00:00"),
        ("Yesterday", ""),
        ("", "23:59"),
        *((date_in_words(days_later(today, -2)), ""), ("", "23:59")),
        *((date_in_words(days_later(today, -3)), ""), ("", "23:59")),
    ]
    assert "Times are in Pacific/Auckland." in page


def test_each_kind_has_an_icon_that_is_drawn() -> None:
    """Jinja would fail only on the page that shows it."""
    drawn = (Path(pages.__file__).parent / "templates" / "icons.html").read_text()
    assert {each.icon for each in NOTIFICATION_KINDS} - set(
        re.findall(r'"([\w-]+)":', drawn)
    ) == set()
