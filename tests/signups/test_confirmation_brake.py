"""Confirmation emails of one referral code: a robot that enters a bought list sends a few, honest
people hardly wait, and nobody can keep the emails of others from leaving.
"""

import heapq
import itertools
import random
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from honeyguide.events import change_log
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from honeyguide.mail import emails
from honeyguide.pages.readers.requested_emails import CONFIRM_WITHIN_MS
from honeyguide.signups import confirmations, signups
from honeyguide.signups.confirmations import FREE, CodeCounts, allowance
from honeyguide.signups.lifecycle import SubscriberChanges
from honeyguide.subscribers import reader_links
from tests.support.held_emails import Link
from tests.support.mailbox import Mailbox
from tests.support.newsletter import Newsletter
from tests.support.partner_network import join, offer, publish
from tests.support.readings import in_account, reading
from tests.support.service import ENGINES, ONE_ENGINE, Member, Service, until
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

HELD = statement(
    "SELECT sentence, link FROM notice "
    "WHERE account_id = :id AND kind = 'confirmations_held' ORDER BY created_ms"
)


def notifications(owner: Member) -> list[tuple[str, str]]:
    """What they say, and where they lead."""
    return owner.service.read(lambda tx: tx.all(HELD, id=owner.account_id))


BODIES = statement("SELECT body_text, body_html FROM letter WHERE account_id = :id AND id = :email")


def bodies(link: Link, address: str) -> Any:
    """Of the newest email to this person."""
    key = {"id": link.member.account_id, "email": link.email(address).id}
    return link.service.read(lambda tx: tx.one(BODIES, **key))


@pytest.fixture
def link(alice: Member) -> Link:
    return Link(alice)


PER_LOOK = confirmations.OTHERS.most
WINDOW_MS = confirmations.OTHERS.window_ms


@pytest.mark.parametrize(
    ("unconfirmed", "confirmed", "expected"),
    [
        (0, 0, 25),
        (24, 0, 1),
        (25, 0, 0),
        (80, 0, 0),
        (24, 1, 5),
        (84, 16, 5),  # one in six confirms
        (86, 14, 0),
        (0, 100, 100),  # never more than the window that was counted
    ],
)
def test_how_many_may_leave_at_once(unconfirmed: int, confirmed: int, expected: int) -> None:
    assert allowance(CodeCounts(unconfirmed, confirmed)) == expected


def test_a_code_whose_people_do_not_confirm_sends_a_few_emails(link: Link) -> None:
    other = Link(link.member)
    came = link.arrive(FREE + 9)
    assert link.statuses(came) == ["waiting"] * FREE + ["held"] * 9
    link.release_or_cancel()
    link.release_or_cancel(2 * confirmations.LOOK_EVERY_MS)
    assert link.statuses(came).count("held") == 9 - PER_LOOK, "nobody confirmed"
    link.release_or_cancel(WINDOW_MS)
    assert link.statuses(came).count("held") == 9 - 2 * PER_LOOK
    assert link.statuses(link.arrive(code=other.code)) == ["waiting"], "another code"
    unreferred = f"alone-{link.code}@example.org"
    link.ask(unreferred)
    assert link.statuses([unreferred]) == ["waiting"]


def test_all_may_come_in_the_same_millisecond(link: Link) -> None:
    came = link.arrive(FREE + 5, every_ms=0)
    assert link.statuses(came).count("held") == 5
    link.release_or_cancel()
    assert link.statuses(came).count("held") == 5 - PER_LOOK


def test_each_one_who_confirms_releases_more_at_once(link: Link) -> None:
    came = link.arrive(FREE + 12)
    link.confirm(came[0])
    link.release_or_cancel()
    # Five more for who confirmed: the oldest. The others at the pace, by chance.
    assert link.statuses(came[FREE : FREE + 5]) == ["waiting"] * 5
    assert link.statuses(came[FREE:]).count("held") == 7 - PER_LOOK
    released = link.email(came[FREE])
    assert released.due_ms == released.created_ms == link.now_ms, "its date is that of today"
    link.confirm(came[1], came[2], came[3])
    newest = link.arrive()
    assert link.statuses(newest) == ["held"], "others wait"
    link.release_or_cancel()
    assert link.statuses([*came[FREE:], *newest]) == ["waiting"] * 13
    assert link.statuses(link.arrive()) == ["waiting"], "nothing waits any more"
    again = link.arrive(20)
    assert "held" in link.statuses(again), "too few confirmed"
    link.confirm(*came[4:10])
    link.release_or_cancel()
    assert link.statuses(again) == ["waiting"] * 20


def test_who_waited_has_as_long_to_confirm_as_others(link: Link) -> None:
    site, (*_, last) = link.service.services.site, link.arrive(FREE + 1)
    held = link.email(last).id
    text = link.service.read(lambda tx: emails.text_of(reading(tx, link.tenant), held))
    assert text is not None
    token = text.split("/confirm/")[1].split()[0]
    signed = reader_links.read_confirm_token(site, token)
    assert signed and signed.code == link.person(last).ref_code
    assert signed.until_ms == link.now_ms + confirmations.HELD_MS + CONFIRM_WITHIN_MS


def test_who_asks_again_while_it_waits_gets_one_email(link: Link) -> None:
    *_, last = link.arrive(FREE + 1)
    link.now_ms += HOUR_MS
    link.ask(last, code=link.code)
    about = link.person(last).id
    found = link.service.read(lambda tx: emails.of_subscriber(reading(tx, link.tenant), about))
    assert [email.status for email in found] == ["held"]


def test_evidence_against_a_group_stops_no_email(link: Link) -> None:
    """Whoever wants to hurt a partner can make it up."""
    link.add_evidence(*link.arrive(12))
    assert link.statuses(link.arrive(3)) == ["waiting"] * 3


def test_what_waits_as_long_as_a_referral_lives_is_canceled(link: Link) -> None:
    came = link.arrive(FREE + 2 * PER_LOOK)
    link.release_or_cancel()
    still = [each for each in came if link.statuses([each]) == ["held"]]
    assert len(still) == PER_LOOK
    link.release_or_cancel(30 * DAY_MS)
    assert link.statuses(still) == ["cancelled"] * PER_LOOK
    assert link.email(still[0]).error == "Cancelled: it waited for 30 days."
    assert bodies(link, still[0]) == bodies(link, still[1]) == (None, None)
    due = link.service.read(
        lambda tx: confirmations.due_codes(tx.at(link.now_ms + DAY_MS), most=100)
    )
    assert link.code not in [each.code for each in due], "nothing is left to look at"


def test_the_referral_decides_about_its_email(link: Link) -> None:
    *_, rejected, verified, confirmed, left, erased, still = link.arrive(FREE + 6)
    link.make(signups.decide, rejected, "rejected")
    link.make(signups.decide, verified, "verified")
    link.confirm(confirmed)
    link.make(signups.update, left, SubscriberChanges(status="unsubscribed"))
    gone = link.email(erased)
    link.make(signups.erase, erased)
    assert link.statuses([rejected, verified, confirmed, left, still]) == [
        "cancelled",
        "waiting",
        "cancelled",
        "cancelled",
        "held",
    ]
    (found,) = link.service.read(
        lambda tx: emails.of_subscriber(reading(tx, link.tenant), gone.about_id or "")
    )
    assert (found.status, found.held_code) == ("cancelled", None)
    assert "/confirm/" in bodies(link, still)[0]
    assert bodies(link, rejected) == bodies(link, confirmed) == (None, None), "no link is kept"


def test_two_processes_release_no_email_twice(link: Link, processes: list[Service]) -> None:
    came = link.arrive(FREE + 60)
    link.confirm(*came[:3])
    link.now_ms += confirmations.LOOK_EVERY_MS
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda n: link.make_at(
                    processes[n % len(processes)],
                    confirmations.release_or_cancel,
                    link.code,
                    random.Random(n),
                ),
                range(16),
            )
        )
    assert link.statuses(came[FREE:]).count("waiting") == 15 + PER_LOOK, "three confirmed"


def test_who_comes_while_a_process_looks_is_not_forgotten(
    link: Link, processes: list[Service]
) -> None:
    """A look that ends the brake and a signup that waits for it meet: the email is looked at
    again."""
    for _ in range(8):
        came = link.arrive(FREE + 1)
        link.confirm(*came)
        link.now_ms += confirmations.LOOK_EVERY_MS
        with ThreadPoolExecutor(4) as pool:
            runs = [
                pool.submit(
                    link.make_at,
                    processes[-1],
                    confirmations.release_or_cancel,
                    link.code,
                    random.Random(number),
                )
                for number in range(2)
            ]
            (late,) = link.arrive(every_ms=0)
            for each in runs:
                each.result()
        link.release_or_cancel()
        assert link.statuses([late]) == ["waiting"]


@ONE_ENGINE
def test_a_link_in_a_newsletter_brings_300_honest_people_within_an_hour(link: Link) -> None:
    """Two in three come in the first ten minutes; seven in ten confirm, most within five minutes.
    Nobody waits long for the email."""
    dice = random.Random(34)
    arrivals = sorted(
        dice.expovariate(1 / 9) * MINUTE_MS if dice.random() < 0.8 else dice.random() * HOUR_MS
        for _ in range(300)
    )
    begin_ms = link.now_ms
    todo: list[tuple[float, int, str, str]] = [
        (begin_ms + at_ms, number, "arrive", "") for number, at_ms in enumerate(arrivals)
    ]
    todo += [(begin_ms + 30_000 * step, 1_000 + step, "look", "") for step in range(1, 2 * 60 * 2)]
    heapq.heapify(todo)
    asked, delays, order = dict[str, int](), dict[str, float](), itertools.count(10_000)
    while todo:
        at_ms, _, what, who = heapq.heappop(todo)
        link.now_ms = int(at_ms)
        if what == "arrive":
            (email,) = link.arrive(every_ms=0)
            asked[email] = link.now_ms
        elif what == "look":
            link.make(confirmations.release_or_cancel, link.code, link.chance)
        else:
            link.confirm(who)
        for email in [each for each in asked if each not in delays]:
            if link.email(email).status == "waiting":
                delays[email] = link.now_ms - asked[email]
                if dice.random() < 0.7:
                    later = (20 + dice.expovariate(1 / 180)) * SECOND_MS
                    heapq.heappush(todo, (link.now_ms + later, next(order), "confirm", email))
    assert len(delays) == 300, "every email left"
    by_length = sorted(delays.values())
    assert by_length[270] == 0 and by_length[-1] <= 2 * MINUTE_MS
    assert not notifications(link.member)


def test_the_owner_is_notified_once_and_soon_if_many_wait(link: Link) -> None:
    link.arrive(FREE + PER_LOOK + 2)
    link.release_or_cancel()
    assert not notifications(link.member), "it may be over in a minute"
    link.release_or_cancel(confirmations.NOTIFY_AFTER_MS)
    link.arrive()
    link.release_or_cancel(DAY_MS)
    ((_, where),) = notifications(link.member)
    assert where == f"/review?show=pending&code={link.code}"

    busy = Link(link.member)
    busy.arrive(FREE + PER_LOOK + confirmations.NOTIFY_FROM)
    busy.release_or_cancel()
    assert len(notifications(link.member)) == 2


def button(owner: Operator, link: Link, page: str = "") -> str:
    """What the button on the review page of a code says. Empty without one."""
    shown = owner.web.get(page or f"/review?show=pending&code={link.code}").text
    found = re.search(r"Send the [^<]* anyway", shown)
    return found[0] if found else ""


def test_the_owner_sends_them_anyway(service: Service) -> None:
    alice, mallory = operator(service), operator(service, "mallory")
    link = Link(alice, now_ms=service.now_ms())
    came = link.arrive(FREE + 3, every_ms=0)
    assert button(alice, link) == "Send the 3 confirmation emails anyway"
    assert button(alice, link, "/review") == "Send the 3 confirmation emails anyway"
    assert not button(mallory, link) and not button(mallory, link, "/review")
    form = {"page": "/settings", "code": link.code, "back": "/review"}
    mallory.web.post("/review/confirmations", **form)
    assert link.statuses(came[FREE:]) == ["held"] * 3
    assert alice.web.post("/review/confirmations", **form).status_code == 303
    assert "3 confirmation emails will be sent now." in text_of(alice.web.get("/review").text)
    until(lambda: "held" not in link.statuses(came))
    assert not button(alice, link)
    alice.web.post("/review/confirmations", **form)
    assert "No confirmation emails are waiting" in text_of(alice.web.get("/review").text)
    logged = service.read(
        lambda tx: change_log.of_account(in_account(tx, alice.account_id), most=50)
    )
    (entry,) = [each for each in logged if each.action == "confirmations.released"]
    assert entry.differences[1] == {"code": link.code, "emails": 3}


def test_after_that_the_count_begins_anew(link: Link) -> None:
    link.arrive(FREE)
    held = link.arrive(PER_LOOK + 3)
    link.release_or_cancel(confirmations.NOTIFY_AFTER_MS)
    assert len(notifications(link.member)) == 1
    assert link.make(confirmations.release_all, link.code) == 3
    link.release_or_cancel(0)
    assert link.statuses(held) == ["waiting"] * (PER_LOOK + 3)
    second = link.arrive(FREE + 1)
    assert link.statuses(second) == ["waiting"] * FREE + ["held"]
    link.release_or_cancel(confirmations.NOTIFY_AFTER_MS)
    assert len(notifications(link.member)) == 2, "what they sent before is not what waits now"
    link.release_or_cancel(DAY_MS)
    assert len(notifications(link.member)) == 2


def test_a_long_backlog_is_released_in_batches(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirmations, "BATCH", 4)
    came = link.arrive(FREE + 10)
    link.make(confirmations.release_all, link.code)
    link.release_or_cancel(0)
    assert link.statuses(came).count("held") == 6
    link.release_or_cancel(0)
    link.release_or_cancel(0)
    assert link.statuses(came).count("held") == 0


def enter_list(wax: Newsletter, path: str, count: int) -> None:
    """As a tool does it: each address with a form of its own and from a network of its own."""
    for start in range(0, count, 100):
        numbers = range(start, min(start + 100, count))
        opened = [wax.fields(path) for _ in numbers]
        wax.later()
        for number, hidden in zip(numbers, opened, strict=True):
            from_ip = f"{20 + number // 62_500}.{number // 250 % 250}.{number % 250}.7"
            answer = wax.visitor.post(
                path,
                data={**hidden, "email": f"listed{number}@example.org"},
                headers={"x-forwarded-for": from_ip},
            )
            assert answer.status_code == 303, answer.text


# Thousands of forms take minutes.
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("count", [200, pytest.param(5_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_bought_list_through_the_magic_link_makes_us_write_to_few(
    engine: str, count: int
) -> None:
    with (
        Mailbox() as mailbox,
        Service(engine, smtp_url=mailbox.url, trusted_proxies="127.0.0.1") as service,
    ):
        alice, bob = operator(service), service.member("bob")
        wax = Newsletter(service, member=alice)
        joined = join(bob, offer(alice, publish(alice), slug="bought-list"))
        enter_list(wax, f"/m/{joined['ref_code']}", count)
        for _ in range(3):
            wax.later(confirmations.LOOK_EVERY_MS / SECOND_MS)
            service.run_jobs()
        until(lambda: alice.email in [each.to for each in mailbox.received])
        listed = [each.to for each in mailbox.received if each.to.startswith("listed")]
        assert 0 < len(listed) == len(set(listed)) <= 50
        assert alice.total() >= count
        assert len(notifications(alice)) == 1
        held = count - len(listed)
        sentence = f"Send the {held:,} confirmation emails anyway"
        assert sentence in alice.web.get(notifications(alice)[0][1]).text
