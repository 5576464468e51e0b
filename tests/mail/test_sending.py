"""The postman, on both engines, against a real SMTP server: once when all goes well, again when it
does not, never lost.
"""

import asyncio

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.mail import sending
from honeyguide.mail.sending import send_due
from honeyguide.mail.transports import SmtpTransport
from tests.support.mailbox import DROP, FROM, Mailbox
from tests.support.queued_emails import NOW, Letterbox, Nowhere


def test_a_letter_is_sent_once_with_all_its_headers(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    box.post(to="bea@example.org", subject="Hello", text="Dear Bea,\n\nhi.\n", html="<p>hi</p>")
    assert box.send(smtp) is False
    assert box.send(smtp, NOW + DAY_MS) is False

    (got,) = mailbox.received
    email = box.only()
    assert (got.sender, got.to, got.subject, got.text) == (
        "daily@example.com",
        "bea@example.org",
        "Hello",
        "Dear Bea,\n\nhi.\n",
    )
    assert got.message["From"] == FROM and got.message["To"] == "bea@example.org"
    assert got.id == f"<{email.id}@example.com>"
    assert round(got.message["Date"].datetime.timestamp() * 1000) == NOW
    assert got.message["Auto-Submitted"] == "auto-generated"
    html = got.message.get_body(("html",))
    assert html is not None and html.get_content().strip() == "<p>hi</p>"
    assert (email.status, email.sent_ms, email.attempts, email.error) == ("sent", NOW, 1, None)


def test_many_letters_share_a_few_connections_and_each_arrives_once(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    for number in range(sending.BATCH + 5):
        box.post(subject=f"QueuedEmail {number}")
    assert box.send(smtp) is True
    assert box.send(smtp) is False
    assert sorted(mailbox.subjects) == sorted(
        f"QueuedEmail {number}" for number in range(sending.BATCH + 5)
    )
    assert mailbox.connections <= 2 * sending.SENDERS


def test_postmen_side_by_side_never_take_the_same_letter(box: Letterbox) -> None:
    for number in range(100):
        box.post(subject=f"QueuedEmail {number}")
    out = Nowhere()

    async def everyone() -> None:
        while any(await asyncio.gather(*(send_due(box.store, out, NOW) for _ in range(8)))):
            pass

    box.run(everyone())
    assert len(out.sent) == len({email.id for email in out.sent}) == 100


def test_what_somebody_waits_for_goes_before_any_notice(
    box: Letterbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "BATCH", 2)
    for minute in range(3):
        box.post(kind="reward_unlocked", now_ms=NOW + minute)
    box.post(kind="password_reset", now_ms=NOW + 5)
    out = Nowhere()
    box.send(out, NOW + 10)
    assert sorted(email.kind for email in out.sent) == ["password_reset", "reward_unlocked"]


def test_a_deferral_is_tried_again_when_its_time_comes(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    box.post()
    mailbox.say("RCPT", "450 4.2.1 try again later")
    mailbox.say("DATA", "451 4.3.0 busy")
    box.send(smtp)
    email = box.only()
    assert (email.status, email.due_ms, email.error) == (
        "waiting",
        NOW + MINUTE_MS,
        "450 4.2.1 try again later",
    )
    box.send(smtp, NOW + MINUTE_MS - 1)
    assert box.only().attempts == 1
    box.send(smtp, NOW + MINUTE_MS)
    assert (box.only().attempts, box.only().due_ms) == (2, NOW + 6 * MINUTE_MS)
    box.send(smtp, NOW + 6 * MINUTE_MS)
    assert box.only().status == "sent" and len(mailbox.received) == 1


def test_a_dead_server_is_tried_for_three_days_and_then_the_letter_has_failed(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    mailbox.stop()
    box.post()
    times = []
    while (due_ms := box.only().due_ms) is not None:
        times.append(due_ms - NOW)
        box.send(smtp, due_ms)
    assert times[:6] == [
        0,
        MINUTE_MS,
        6 * MINUTE_MS,
        36 * MINUTE_MS,
        156 * MINUTE_MS,
        156 * MINUTE_MS + 6 * HOUR_MS,
    ]
    assert len(times) == sending.MOST_ATTEMPTS and 2.5 * DAY_MS < times[-1] < 3 * DAY_MS
    email = box.only()
    assert (
        email.status == "failed"
        and email.error is not None
        and "Could not connect to the mail server" in email.error
    )


def test_a_dead_server_costs_one_try_each_round_and_the_rest_goes_as_soon_as_it_is_back(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    mailbox.stop()
    for _ in range(sending.BATCH + 1):
        box.post()
    assert box.send(smtp) is False
    tried = [email for email in box.of_account() if email.attempts]
    assert 1 <= len(tried) <= sending.SENDERS
    mailbox.start()
    assert box.send(smtp, NOW + 1) is False
    assert len(mailbox.received) == sending.BATCH + 1 - len(tried)


def test_never_is_believed_the_third_time(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    box.post()
    mailbox.say(
        "RCPT", "550 5.1.1 no such user", "550 5.1.1 no such user", "550 5.1.1 no such user"
    )
    for now_ms in (NOW, NOW + MINUTE_MS, NOW + 6 * MINUTE_MS, NOW + DAY_MS):
        box.send(smtp, now_ms)
    email = box.only()
    assert (email.status, email.attempts, email.error) == ("failed", 3, "550 5.1.1 no such user")
    assert email.failed_ms == NOW + 6 * MINUTE_MS and mailbox.received == []


def test_later_is_believed_for_longer_than_never(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    box.post()
    mailbox.say("RCPT", *["450 4.2.0 greylisted"] * 5)
    for _ in range(6):
        box.send(smtp, box.only().due_ms or 0)
    assert (box.only().status, box.only().attempts) == ("sent", 6)


def test_one_refused_letter_does_not_keep_back_the_others(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    for _ in range(6):
        box.post()
    mailbox.say("RCPT", "550 no", "450 later")
    mailbox.say("DATA", DROP)
    box.send(smtp)
    assert len(mailbox.received) == 3
    assert sorted(email.status for email in box.of_account()) == ["sent"] * 3 + ["waiting"] * 3


def test_a_server_that_takes_nothing_from_us_counts_against_no_letter_but_the_one_tried(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    for _ in range(10):
        box.post()
    mailbox.say("MAIL", *["550 5.7.1 sender not allowed"] * 20)
    box.send(smtp)
    assert 1 <= sum(email.attempts for email in box.of_account()) <= sending.SENDERS
    assert {email.status for email in box.of_account()} == {"waiting"}
