"""The postman when something breaks, on both engines: killed, cut off, late, stopped. Nothing is
lost or sent for ever.
"""

import asyncio

import pytest

from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.mail import emails, sending
from honeyguide.mail.sending import send_due
from honeyguide.mail.transports import NotNow, OutgoingEmail, SmtpTransport
from tests.support import starter
from tests.support.mailbox import DROP, FROM, Mailbox
from tests.support.process import environment
from tests.support.queued_emails import AFTER_LEASE, NOW, Letterbox, Nowhere, Unrecorded
from tests.support.readings import change_of_account

DIES_AFTER_SENDING = """
import asyncio, os, signal, sys
from honeyguide.mail import sending
from honeyguide.mail.transports import SmtpTransport
from honeyguide.store import open_store

class Fatal(SmtpTransport):
    async def send(self, email):
        await super().send(email)
        os.kill(os.getpid(), signal.SIGKILL)

sending.SENDERS = 1  # else other senders still have emails under way when the test counts

async def main():
    store, transport = await open_store(sys.argv[1]), Fatal(sys.argv[2], sys.argv[3])
    await sending.send_due(store, transport, int(sys.argv[4]))

asyncio.run(main())
"""


def test_a_kill_between_sending_and_recording_gives_a_twin_and_loses_nothing(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    for number in range(3):
        box.post(subject=f"QueuedEmail {number}")
    arguments = [box.url, mailbox.url, FROM, str(NOW)]
    died = starter.run(arguments, env=environment(), before=DIES_AFTER_SENDING, timeout=60)
    assert died.returncode == -9, died.stderr
    assert len(mailbox.received) == 1 and {email.status for email in box.of_account()} == {
        "waiting"
    }

    box.send(smtp, AFTER_LEASE - 1)
    assert len(mailbox.received) == 1
    box.send(smtp, AFTER_LEASE)
    assert {email.status for email in box.of_account()} == {"sent"}
    assert len(mailbox.received) == 4
    assert {got.id for got in mailbox.received} == {
        f"<{email.id}@example.com>" for email in box.of_account()
    }
    assert {got.message["Date"] for got in mailbox.received} == {
        mailbox.received[0].message["Date"]
    }


def test_a_server_that_hangs_up_after_taking_the_letter_gets_it_again_under_the_same_id(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    box.post()
    mailbox.say("TAKEN", DROP)
    box.send(smtp)
    assert box.only().status == "waiting"
    box.send(smtp, NOW + MINUTE_MS)
    assert box.only().status == "sent"
    first, second = mailbox.received
    assert first.id == second.id


def test_a_letter_whose_outcome_is_never_recorded_is_not_sent_for_ever(box: Letterbox) -> None:
    box.post()
    out = Nowhere()
    for turn in range(sending.MOST_ATTEMPTS + 3):
        with pytest.raises(Unavailable):
            box.run(send_due(Unrecorded(box.store), out, NOW + turn * sending.LEASE_MS))  # type: ignore[arg-type]
    assert len(out.sent) == sending.MOST_ATTEMPTS
    box.send(out, NOW + DAY_MS)
    assert len(out.sent) == sending.MOST_ATTEMPTS and box.only().status == "failed"


def test_whoever_comes_late_with_an_old_lease_records_nothing(box: Letterbox) -> None:
    box.post()

    class Slow(Nowhere):
        async def send(self, email: OutgoingEmail) -> None:
            await super().send(email)
            await send_due(
                box.store, second, AFTER_LEASE
            )  # the lease ran out meanwhile, and another got through
            raise NotNow("too late")

    second = Nowhere()
    box.send(Slow())
    assert len(second.sent) == 1
    assert (box.only().status, box.only().sent_ms, box.only().error) == ("sent", AFTER_LEASE, None)


def test_being_told_to_stop_frees_what_was_not_tried(box: Letterbox) -> None:
    for _ in range(sending.BATCH):
        box.post()

    class Stuck(Nowhere):
        async def send(self, email: OutgoingEmail) -> None:
            await super().send(email)
            await asyncio.sleep(60)

    async def stop_soon() -> None:
        stuck = Stuck()
        task = asyncio.create_task(send_due(box.store, stuck, NOW))
        while len(stuck.sent) < sending.SENDERS:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    box.run(stop_soon())
    out = Nowhere()
    box.send(out, NOW)
    assert len(out.sent) == sending.BATCH - sending.SENDERS
    box.send(out, AFTER_LEASE)
    assert len({email.id for email in out.sent}) == sending.BATCH


def test_a_server_that_never_answers_is_given_up_on(
    box: Letterbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SEND_LIMIT_S", 0.2)
    box.post()

    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        await reader.read()
        writer.close()

    async def attempt() -> None:
        server = await asyncio.start_server(silence, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        await send_due(box.store, SmtpTransport(f"smtp://127.0.0.1:{port}", FROM), NOW)
        server.close()

    box.run(attempt())
    assert box.only().status == "waiting" and "took longer than" in (box.only().error or "")


def test_whoever_is_erased_before_or_while_the_round_runs_gets_no_letter(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SENDERS", 1)
    ann, bea = new_id(), new_id()
    box.post(about=ann, subject="To Ann")
    box.write(lambda tx: emails.erase(change_of_account(tx, box.account_id), ann))
    box.post(about=bea, subject="To Bea", now_ms=NOW + 1)
    box.post(about=bea, subject="To Bea again", now_ms=NOW + 1)

    class ErasesBea(SmtpTransport):
        async def send(self, email: OutgoingEmail) -> None:
            await super().send(email)
            await box.store.write(
                lambda tx: emails.erase(change_of_account(tx, box.account_id), bea)
            )

    box.send(ErasesBea(mailbox.url, FROM), NOW + 1)
    box.send(smtp, NOW + DAY_MS)
    assert len(mailbox.received) == 1 and mailbox.subjects[0].startswith("To Bea")
    assert {email.status for email in box.of_account()} == {"cancelled"}
    assert {email.to_email for email in box.of_account()} == {None}


@pytest.mark.parametrize("final", [False, True], ids=["to be tried again", "failed for good"])
def test_a_refusal_that_quotes_the_address_goes_with_the_erased_person(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, final: bool
) -> None:
    zelda, other = new_id(), new_id()
    box.post(about=other, subject="For Zelda's friend", now_ms=NOW + 9 * DAY_MS)
    refusal = (
        "550 5.1.1 <zelda.quixote@example.org>: Recipient address rejected, mailbox of Zelda "
        "Quixote is closed"
    )
    box.post(
        about=zelda,
        to="zelda.quixote@example.org",
        subject="For Zelda Quixote",
        text="Dear Zelda Quixote",
    )
    rounds = sending.MOST_REFUSALS if final else 1
    mailbox.say("RCPT", *[refusal] * rounds)
    for day in range(rounds):
        box.send(smtp, NOW + day * DAY_MS)
    about = {email.about_id: email for email in box.of_account()}
    assert "zelda.quixote@example.org" in (about[zelda].error or ""), (
        "the server's words are kept while the person is here"
    )
    assert about[zelda].status == ("failed" if final else "waiting")
    box.write(lambda tx: emails.erase(change_of_account(tx, box.account_id), zelda))
    row = box.columns("*", about[zelda].id)
    assert [
        cell for cell in row if "zelda" in str(cell).lower() or "quixote" in str(cell).lower()
    ] == []
    assert [email for email in box.of_account() if email.about_id == other] == [about[other]], (
        "nobody else's email changes"
    )


def test_a_key_to_something_is_not_kept_once_the_letter_is_out(box: Letterbox) -> None:
    box.post(kind="password_reset", text="https://r.example/reset/secret")
    box.post(kind="budget_80", text="80 %")
    box.settle(NOW)
    kept = {email.kind: box.columns("body_text", email.id)[0] for email in box.of_account()}
    assert kept == {"password_reset": None, "budget_80": "80 %"}
