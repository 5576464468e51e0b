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
from tests.support.prizes import offer
from tests.support.service import Service
from tests.support.shipments import claim
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


def test_they_name_people_until_these_are_erased(service: Service) -> None:
    nora = operator(service, "nora")
    offer(nora, kind="physical")
    claim(nora, "ana@example.org")
    page = notices(nora.web.get("/notices").text)
    assert "Ana Lopes claimed “The mug”, to " in page
    assert "joined through Ana Lopes" in page, "the first referral"
    nora.delete(f"{nora.v1}/subscribers/ana@example.org")
    page = notices(nora.web.get("/notices").text)
    assert "The mug: claimed and waiting to be sent" in page and "Ana Lopes" not in page


def planted(who: Operator, count: int, kind: str = "webhook_failing") -> None:
    async def notify(tx: Tx) -> None:
        for number in range(count):
            message = email(f"{kind} fails", "Look at it.")
            once = f"{kind}:{number}"
            row = Notification(who.account_id, who.email, kind, once, message, "/webhooks")
            await notifications.notify(tx.at(who.service.now_ms()), "", row)

    who.service.write(notify)


def test_repeats_stand_together_and_a_page_reads_what_is_on_it(service: Service) -> None:
    dora = operator(service, "dora")
    planted(dora, 60)
    planted(dora, 1, kind="budget_80")
    rewards = notices(dora.web.get("/notices?kind=budget").text)
    assert "budget_80 fails" in rewards and "webhook_failing fails" not in rewards
    assert unread(dora) == "Notifications unread: 60", "the others are on another page"
    page = notices(dora.web.get("/notices?kind=webhook_failing&show=new").text)
    assert "webhook_failing fails , 50 times" in page or "fails, 50 times" in page
    assert unread(dora) == "Notifications unread: 10"
    second = dora.web.get("/notices?kind=webhook_failing&page=2").text
    assert "10 times" in notices(second) and 'rel="next"' not in second
    assert unread(dora) == "Notifications"
    assert "Nothing here." in notices(dora.web.get("/notices?show=new&kind=webhook_failing").text)
