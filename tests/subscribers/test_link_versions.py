"""Links that work without a login end with the address that they were sent to, and when somebody
asks for new ones. Those of earlier versions work until then. On both engines.
"""

import re
import time
from collections.abc import Iterator

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.mail import content, emails, notification_choices
from honeyguide.mail.email_kinds import FRIEND_JOINED
from honeyguide.mail.emails import EmailToSend
from honeyguide.mail.layout import EmailLinks, EmailParts
from honeyguide.mail.notification_kinds import BUDGET
from honeyguide.subscribers import reader_emails, reader_links
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.mailbox import Mailbox
from tests.support.newsletter import Newsletter
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

PATIENCE_S = 60.0
LINK = re.compile(r"https?://[^/\s]+(/(?:hub|stop|confirm)/[^\s<>\"]+)")
WORK = {"hub": 200, "reward": 200, "stop": 200, "confirm": 200}
ENDED = {"hub": 404, "reward": 404, "stop": 404, "confirm": 410}


@pytest.fixture
def inbox(posting: tuple[Service, Mailbox]) -> Iterator[Mailbox]:
    service, mailbox = posting
    mailbox.received.clear()
    mailbox.forget_script()
    service.set_clock(0)
    yield mailbox
    service.set_clock(0)


@pytest.fixture
def posted(posting: tuple[Service, Mailbox], inbox: Mailbox) -> Newsletter:
    """Whose emails go to a mail server."""
    return Newsletter(posting[0])


def links_of(wax: Newsletter, person: Subscriber) -> dict[str, str]:
    """All that a reader may be sent now."""
    site, until_ms = wax.service.services.site, wax.service.now_ms() + DAY_MS
    confirm = reader_links.confirm_token(site, person, until_ms)
    return {
        "hub": wax.hub(person),
        "reward": f"{wax.hub(person)}/leave",
        "stop": reader_emails.stop_url(site, person).removeprefix(site.base_url),
        "confirm": f"/confirm/{confirm}",
    }


def answers(wax: Newsletter, links: dict[str, str]) -> dict[str, int]:
    return {name: wax.visitor.get(path).status_code for name, path in links.items()}


def change_address(wax: Newsletter, person: Subscriber, email: str) -> None:
    made = wax.member.put(f"{wax.member.v1}/subscribers/{person.id}", {"email": email})
    assert made.status_code == 200


def test_links_of_earlier_versions_work_until_the_address_changes(wax: Newsletter) -> None:
    site, reader = wax.service.services.site, wax.advocate(0)
    # As they were made before there were versions.
    hub = f"/hub/{reader.ref_code}{site.keyed_hash('hub', reader.id)[:32]}"
    confirm = (wax.service.now_ms() + DAY_MS).to_bytes(6, "big") + reader.ref_code.encode()
    old = {
        "hub": hub,
        "reward": f"{hub}/leave",
        "stop": f"/stop/{site.seal('stop emails', reader.ref_code.encode())}",
        "confirm": f"/confirm/{site.seal('confirm', confirm)}",
    }
    assert hub == wax.hub(reader) and answers(wax, old) == WORK
    change_address(wax, reader, wax.address())
    assert answers(wax, old) == ENDED
    for name, path in old.items():
        assert wax.visitor.post(path).status_code == {**ENDED, "hub": 405}[name]
    assert wax.person(reader.id).status == "active"
    assert answers(wax, links_of(wax, wax.person(reader.id))) == WORK


def test_what_an_address_was_sent_stays_ended_when_it_comes_back(wax: Newsletter) -> None:
    reader = wax.advocate(0)
    first = links_of(wax, reader)
    for email in (wax.address(), reader.email):
        change_address(wax, reader, email)
    assert answers(wax, first) == ENDED


def test_whoever_was_asked_to_confirm_can_while_they_have_the_address_it_was_sent_to(
    service: Service,
    alice: Operator,
) -> None:
    """Or an owner would end the link, and with it a referral that must be paid."""
    wax = Newsletter(service, member=alice)
    wax.configure(needs_confirmation=True)
    wax.join(email := wax.address())
    reader = wax.person(email)
    sent = links_of(wax, reader)
    assert alice.web.post(f"/subscribers/{reader.id}/link", page="/subscribers").status_code == 303
    only_confirm = {**ENDED, "confirm": 200}
    assert answers(wax, sent) == only_confirm
    change_address(wax, reader, wax.address())
    assert answers(wax, sent) == ENDED
    change_address(wax, reader, email)
    assert answers(wax, sent) == only_confirm
    assert wax.visitor.post(sent["confirm"]).status_code == 303
    assert wax.person(email).status == "confirmed"
    assert answers(wax, sent) == ENDED, "now it would only lead to their page"


def test_another_spelling_of_the_same_address_ends_nothing(wax: Newsletter) -> None:
    reader = wax.advocate(0)
    spelled = reader.email.capitalize()
    change_address(wax, reader, spelled)
    assert wax.person(reader.id).email == spelled
    assert answers(wax, links_of(wax, reader)) == WORK


def test_the_page_on_the_operators_website_follows_the_link(wax: Newsletter) -> None:
    reader = wax.advocate(0)
    address = f"{wax.member.v1}/subscribers/{reader.id}/referral_page"
    before = wax.member.get(address).json()["referral_page_url"]
    change_address(wax, reader, wax.address())
    after = wax.member.get(address).json()["referral_page_url"]
    assert before.endswith(wax.hub(reader)) and after.endswith(wax.hub(wax.person(reader.id)))
    assert before != after


def wait_for(inbox: Mailbox, to: str) -> str:
    """The text of the email to this address."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        for got in list(inbox.received):
            if got.to == to:
                return got.text
        time.sleep(0.05)
    raise AssertionError(f"nothing was sent to {to}")


def test_an_email_that_has_not_left_goes_to_the_new_address_with_new_links(
    posted: Newsletter, inbox: Mailbox
) -> None:
    posted.configure(needs_confirmation=True)
    typo, right = posted.address("tpyo"), posted.address("typo")
    inbox.say("RCPT", "450 greylisted")
    posted.join(typo)
    until = time.monotonic() + PATIENCE_S
    while posted.emails("confirm")[0].error is None and time.monotonic() < until:
        time.sleep(0.05)
    change_address(posted, posted.person(typo), right)
    posted.later(120)
    posted.service.run_jobs()  # its own loop looks again after half a minute
    links = LINK.findall(wait_for(inbox, right))
    assert [posted.visitor.get(path).status_code for path in links] == [200]
    assert posted.visitor.post(links[0]).status_code == 303
    assert posted.person(right).status == "confirmed"
    assert [got.to for got in inbox.received] == [right], "nothing goes to the mistyped address"


def test_a_scheduled_email_with_more_links_is_rewritten_whole(wax: Newsletter) -> None:
    reader, other = wax.advocate(0), links_of(wax, wax.advocate(0))
    links, base = links_of(wax, reader), wax.service.services.site.base_url
    text = "\n".join(f'<a href="{base}{path}">' for path in (*links.values(), *other.values()))
    wax.service.write(
        lambda tx: emails.send(
            tx.at(wax.service.now_ms()),
            EmailToSend(
                account_id=wax.member.account_id,
                to=EmailAddress(reader.email),
                kind=FRIEND_JOINED,
                message=content.email("A friend joined"),
                parts=EmailParts(text, text),
                links=EmailLinks(stop=f"{base}{links['stop']}"),
                about=reader.id,
                delay_ms=DAY_MS,
            ),
        )
    )
    change_address(wax, reader, wax.address())
    row = statement(
        "SELECT body_text, body_html, unsubscribe_url FROM letter "
        "WHERE account_id = :account_id AND about_id = :id"
    )
    stored = wax.service.read(
        lambda tx: tx.all(row, account_id=wax.member.account_id, id=reader.id)
    )
    new = links_of(wax, wax.person(reader.id))
    assert len(stored) == 1
    for body_text, body_html, unsubscribe_url in stored:
        found = LINK.findall(body_text)
        assert body_html == body_text and unsubscribe_url == f"{base}{new['stop']}"
        assert found[:3] == [new["hub"], new["reward"], new["stop"]]
        assert wax.visitor.get(found[3]).status_code == 200
        assert found[4:] == list(other.values()), "somebody else's links stay"


def test_a_reader_ends_their_links_and_is_emailed_a_new_one(
    posted: Newsletter, inbox: Mailbox
) -> None:
    posted.join(email := posted.address())
    wait_for(inbox, email)
    inbox.received.clear()
    reader = posted.person(email)
    before = links_of(posted, reader)
    asked = f"{before['hub']}/link"
    assert asked in posted.visitor.get(before["hub"]).text
    assert posted.visitor.get(asked).status_code == 200
    assert answers(posted, before) == WORK, "mail scanners open every link"
    done = posted.visitor.post(asked)
    assert done.status_code == 200 and "Check your inbox" in done.text
    assert posted.hub(posted.person(email)) not in done.text, "only the mailbox gets it"
    assert answers(posted, before) == ENDED
    assert posted.visitor.post(asked).status_code == 404
    (link,) = LINK.findall(wait_for(inbox, email))
    assert posted.visitor.get(link).status_code == 200


def test_a_readers_links_go_on_while_no_email_can_be_sent(wax: Newsletter) -> None:
    wax.join(email := wax.address())
    for _ in range(9):
        assert wax.visitor.post(f"{wax.hub(wax.person(email))}/link").status_code == 200
    reader = wax.person(email)
    assert wax.visitor.post(f"{wax.hub(reader)}/link").status_code == 429
    assert wax.person(email) == reader and wax.visitor.get(wax.hub(reader)).status_code == 200


def test_an_owner_ends_a_readers_links(service: Service, alice: Operator) -> None:
    wax = Newsletter(service, member=alice)
    reader = wax.advocate(0)
    before, page = links_of(wax, reader), f"/subscribers/{reader.id}"
    assert "New private link" in alice.web.get(page).text
    assert alice.web.post(f"{page}/link", page=page).status_code == 303
    assert answers(wax, before) == ENDED
    assert answers(wax, links_of(wax, wax.person(reader.id))) == WORK
    assert "no longer work" in text_of(alice.web.get(page).text)
    assert wax.emails("hub_link") == [], "the owner sends it, if they want"


def test_the_link_that_turns_notifications_off_ends(service: Service) -> None:
    alice, site = operator(service), service.services.site
    now_ms, account_id = service.now_ms(), alice.account_id

    def status(url: str) -> int:
        return alice.web.http.get(url.removeprefix(site.base_url)).status_code

    def made(age_ms: int) -> str:
        return notification_choices.turn_off_url(
            site, account_id, BUDGET, link_version=0, now_ms=now_ms - age_ms
        )

    earlier = site.seal("turn off notifications", f"{account_id} {BUDGET.name}".encode())
    earlier = f"{site.base_url}/notices/off/{earlier}"
    assert [status(made(0)), status(made(29 * DAY_MS)), status(earlier)] == [200] * 3
    assert status(made(31 * DAY_MS)) == 404
    move = statement("UPDATE account SET email = 'new@example.org' WHERE id = :account_id")
    service.write(lambda tx: tx.run(move, account_id=account_id))
    assert [status(made(0)), status(earlier)] == [404] * 2
