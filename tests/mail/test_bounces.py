"""An address at which an email bounced is not written to again, against a real SMTP server."""

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.mail import emails, sending
from honeyguide.mail.content import email
from honeyguide.mail.email_kinds import CONFIRM
from honeyguide.mail.emails import EmailToSend
from honeyguide.mail.transports import SmtpTransport
from honeyguide.store.change import Change
from tests.support.mailbox import Mailbox
from tests.support.queued_emails import NOW, Letterbox
from tests.support.readings import change_of_account, in_account
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import operator

NO_SUCH_USER = "550 5.1.1 no such user"


def refuse(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, answer: str, step: str = "RCPT"
) -> str:
    """The id of the subscriber whose email the server refuses for good."""
    ana = new_id()
    box.post(kind="confirm", about=ana)
    mailbox.say(step, *[answer] * sending.MOST_REFUSALS)
    for day in range(sending.MOST_REFUSALS):
        box.send(smtp, NOW + day * DAY_MS)
    assert box.only().status == "failed"
    return ana


def bounced_ms(box: Letterbox, about_id: str) -> int | None:
    found = box.read(lambda tx: emails.find_bounces(in_account(tx, box.account_id), about_id))
    return found[0].bounced_ms if found else None


@pytest.mark.parametrize(
    ("step", "answer", "is_bounce"),
    [
        ("RCPT", NO_SUCH_USER, True),
        ("RCPT", "550 no such user here", True),
        ("RCPT", "553 5.1.3 bad syntax", True),
        ("RCPT", "550 5.2.1 mailbox disabled", True),
        ("DATA", "550 5.1.1 no such user, said late", True),
        ("RCPT", "550 5.7.1 relaying denied", False),
        ("RCPT", "552 5.2.2 mailbox full", False),
        ("RCPT", "554 transaction failed", False),
        ("DATA", "550 looks like spam", False),
        ("DATA", "554 5.7.1 looks like spam", False),
        ("DATA", "554 looks like spam, see 5.1.1 in our rules", False),
    ],
)
def test_only_a_mailbox_that_does_not_exist_is_a_bounce(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, step: str, answer: str, is_bounce: bool
) -> None:
    ana = refuse(box, mailbox, smtp, answer, step)
    assert bool(box.only().bounced) is is_bounce
    assert bounced_ms(box, ana) == (NOW + 2 * DAY_MS if is_bounce else None)


def test_nobody_is_written_to_at_a_mailbox_that_bounced(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    refuse(box, mailbox, smtp, NO_SUCH_USER)
    later, own, other_account = NOW + 9 * DAY_MS, box.account_id, new_id()
    bea = new_id()
    box.post(kind="hub_link", to="Ann@example.org", subject="Same mailbox", about=bea, now_ms=later)
    box.post(kind="hub_link", to="bea@example.org", subject="Another mailbox", now_ms=later)
    box.post(kind="password_reset", subject="An operator’s own", now_ms=later)
    box.post(kind="budget_80", subject="A notification", now_ms=later)
    box.account_id = other_account
    box.post(kind="hub_link", subject="Another account", now_ms=later)
    box.account_id = own
    box.send(smtp, later)
    assert sorted(mailbox.subjects) == [
        "A notification",
        "An operator’s own",
        "Another account",
        "Another mailbox",
    ]
    (left,) = [each for each in box.of_account() if each.subject == "Same mailbox"]
    assert (left.status, left.bounced) == ("cancelled", 1)
    assert left.error == "Cancelled: an earlier email to this address was returned."
    assert box.columns("body_text, body_html, lease_token", left.id) == [None] * 3
    assert bounced_ms(box, bea) == later, "it speaks against this subscriber too"


def test_it_is_forgotten_when_the_subscriber_is_erased(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    ana = refuse(box, mailbox, smtp, NO_SUCH_USER)
    box.write(lambda tx: emails.erase(change_of_account(tx, box.account_id), ana))
    assert bounced_ms(box, ana) is None and box.only().bounced == 0
    later = NOW + 9 * DAY_MS
    box.post(kind="confirm", about=new_id(), now_ms=later)
    box.send(smtp, later)
    assert len(mailbox.received) == 1


def test_the_owner_sees_it_on_the_subscribers_page(service: Service) -> None:
    alice = operator(service)
    ana = alice.subscribe("ana@example.org")["uuid"]
    alice.make(_queue_failed, ana)
    page = alice.web.get(f"/subscribers/{ana}").text
    assert "Returned: there is no such mailbox" in page


async def _queue_failed(change: Change, subscriber_id: str) -> None:
    to, message = EmailAddress("ana@example.org"), email("Please confirm", "Please")
    sent = EmailToSend(change.tenant.account_id, to, CONFIRM, message)
    await emails.send(change.tx, sent._replace(about=subscriber_id))
    await change.run(
        statement(
            "UPDATE letter SET failed_ms = :now_ms, due_ms = NULL, bounced = 1 "
            "WHERE account_id = :account_id AND about_id = :id"
        ),
        id=subscriber_id,
    )
