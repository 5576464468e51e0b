"""The postman, on both engines, against a real SMTP server: once when all goes well, again when it does not, never lost."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from email.errors import MessageError
from pathlib import Path
from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.mail import letters, sending, transports
from honeyguide.mail.sending import send_due
from honeyguide.mail.transports import FolderTransport, LogTransport, NotNow, Outgoing, SmtpTransport, transport_for
from honeyguide.settings import WrongSetting
from honeyguide.settings import read as read_settings
from tests.support.letterbox import NOW, Letterbox, Nowhere
from tests.support.mailbox import DROP, Mailbox
from tests.support.service import ENGINES

FROM = "The Daily <daily@example.com>"
AFTER_LEASE = NOW + sending.LEASE_MS


@pytest.fixture(scope="module", params=ENGINES)
def shared_box(request: pytest.FixtureRequest) -> Iterator[Letterbox]:
    with Letterbox(request.param) as box:
        yield box


@pytest.fixture
def box(shared_box: Letterbox) -> Letterbox:
    shared_box.empty()
    return shared_box


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with Mailbox() as mailbox:
        yield mailbox


@pytest.fixture
def smtp(mailbox: Mailbox) -> SmtpTransport:
    return SmtpTransport(mailbox.url, FROM)


def test_a_letter_is_sent_once_with_all_its_headers(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport) -> None:
    box.post(to="bea@example.org", subject="Hello", text="Dear Bea,\n\nhi.\n", html="<p>hi</p>")
    assert box.send(smtp) is False
    assert box.send(smtp, NOW + DAY_MS) is False

    (got,) = mailbox.received
    letter = box.only()
    assert (got.sender, got.to, got.subject, got.text) == (
        "daily@example.com",
        "bea@example.org",
        "Hello",
        "Dear Bea,\n\nhi.\n",
    )
    assert got.message["From"] == FROM and got.message["To"] == "bea@example.org"
    assert got.id == f"<{letter.id}@example.com>"
    assert round(got.message["Date"].datetime.timestamp() * 1000) == NOW
    assert got.message["Auto-Submitted"] == "auto-generated"
    html = got.message.get_body(("html",))
    assert html is not None and html.get_content().strip() == "<p>hi</p>"
    assert (letter.status, letter.sent_ms, letter.attempts, letter.error) == ("sent", NOW, 1, None)


def test_many_letters_share_a_few_connections_and_each_arrives_once(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    for number in range(sending.BATCH + 5):
        box.post(subject=f"Letter {number}")
    assert box.send(smtp) is True
    assert box.send(smtp) is False
    assert sorted(mailbox.subjects) == sorted(f"Letter {number}" for number in range(sending.BATCH + 5))
    assert mailbox.connections <= 2 * sending.LANES


def test_postmen_side_by_side_never_take_the_same_letter(box: Letterbox) -> None:
    for number in range(100):
        box.post(subject=f"Letter {number}")
    out = Nowhere()

    async def everyone() -> None:
        while any(await asyncio.gather(*(send_due(box.store, out, NOW) for _ in range(8)))):
            pass

    box.run(everyone())
    assert len(out.sent) == len({letter.id for letter in out.sent}) == 100


def test_what_somebody_waits_for_goes_before_any_notice(box: Letterbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "BATCH", 2)
    for minute in range(3):
        box.post(kind="reward_unlocked", now_ms=NOW + minute)
    box.post(kind="password_reset", now_ms=NOW + 5)
    out = Nowhere()
    box.send(out, NOW + 10)
    assert sorted(letter.kind for letter in out.sent) == ["password_reset", "reward_unlocked"]


def test_a_deferral_is_tried_again_when_its_time_comes(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport) -> None:
    box.post()
    mailbox.say("RCPT", "450 4.2.1 try again later")
    mailbox.say("DATA", "451 4.3.0 busy")
    box.send(smtp)
    letter = box.only()
    assert (letter.status, letter.due_ms, letter.error) == ("waiting", NOW + MINUTE_MS, "450 4.2.1 try again later")
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
    assert times[:6] == [0, MINUTE_MS, 6 * MINUTE_MS, 36 * MINUTE_MS, 156 * MINUTE_MS, 156 * MINUTE_MS + 6 * HOUR_MS]
    assert len(times) == sending.MOST_ATTEMPTS and 2.5 * DAY_MS < times[-1] < 3 * DAY_MS
    letter = box.only()
    assert letter.status == "failed" and letter.error is not None and "does not let us in" in letter.error


def test_a_dead_server_costs_one_try_each_round_and_the_rest_goes_as_soon_as_it_is_back(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    mailbox.stop()
    for _ in range(sending.BATCH + 1):
        box.post()
    assert box.send(smtp) is False
    tried = [letter for letter in box.of_account() if letter.attempts]
    assert 1 <= len(tried) <= sending.LANES
    mailbox.start()
    assert box.send(smtp, NOW + 1) is False
    assert len(mailbox.received) == sending.BATCH + 1 - len(tried)


def test_never_is_believed_the_third_time(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport) -> None:
    box.post()
    mailbox.say("RCPT", "550 5.1.1 no such user", "550 5.1.1 no such user", "550 5.1.1 no such user")
    for now_ms in (NOW, NOW + MINUTE_MS, NOW + 6 * MINUTE_MS, NOW + DAY_MS):
        box.send(smtp, now_ms)
    letter = box.only()
    assert (letter.status, letter.attempts, letter.error) == ("failed", 3, "550 5.1.1 no such user")
    assert letter.failed_ms == NOW + 6 * MINUTE_MS and mailbox.received == []


def test_later_is_believed_for_longer_than_never(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport) -> None:
    box.post()
    mailbox.say("RCPT", *["450 4.2.0 greylisted"] * 5)
    for _ in range(6):
        box.send(smtp, box.only().due_ms or 0)
    assert (box.only().status, box.only().attempts) == ("sent", 6)


def test_one_refused_letter_does_not_keep_back_the_others(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport) -> None:
    for _ in range(6):
        box.post()
    mailbox.say("RCPT", "550 no", "450 later")
    mailbox.say("DATA", DROP)
    box.send(smtp)
    assert len(mailbox.received) == 3
    assert sorted(letter.status for letter in box.of_account()) == ["sent"] * 3 + ["waiting"] * 3


def test_a_server_that_takes_nothing_from_us_counts_against_no_letter_but_the_one_tried(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    for _ in range(10):
        box.post()
    mailbox.say("MAIL", *["550 5.7.1 sender not allowed"] * 20)
    box.send(smtp)
    assert 1 <= sum(letter.attempts for letter in box.of_account()) <= sending.LANES
    assert {letter.status for letter in box.of_account()} == {"waiting"}


DIES_AFTER_SENDING = """
import asyncio, os, signal, sys
from honeyguide.mail import sending
from honeyguide.mail.transports import SmtpTransport
from honeyguide.store import open_store

class Fatal(SmtpTransport):
    async def send(self, letter):
        await super().send(letter)
        os.kill(os.getpid(), signal.SIGKILL)

sending.LANES = 1  # else letters on other lanes are still under way when the test counts

async def main():
    await sending.send_due(await open_store(sys.argv[1]), Fatal(sys.argv[2], sys.argv[3]), int(sys.argv[4]))

asyncio.run(main())
"""


def test_a_kill_between_sending_and_recording_gives_a_twin_and_loses_nothing(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    for number in range(3):
        box.post(subject=f"Letter {number}")
    command = [sys.executable, "-c", DIES_AFTER_SENDING, box.url, mailbox.url, FROM, str(NOW)]
    assert subprocess.run(command, timeout=60, check=False).returncode == -9
    assert len(mailbox.received) == 1 and {letter.status for letter in box.of_account()} == {"waiting"}

    box.send(smtp, AFTER_LEASE - 1)
    assert len(mailbox.received) == 1
    box.send(smtp, AFTER_LEASE)
    assert {letter.status for letter in box.of_account()} == {"sent"}
    assert len(mailbox.received) == 4
    assert {got.id for got in mailbox.received} == {f"<{letter.id}@example.com>" for letter in box.of_account()}
    assert {got.message["Date"] for got in mailbox.received} == {mailbox.received[0].message["Date"]}


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


class Unrecorded:
    """A store that is gone when the outcome is to be written."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._writes = 0
        self.engine, self.read = store.engine, store.read

    async def write(self, work: Any) -> Any:
        self._writes += 1
        if self._writes > 1:
            raise Unavailable("gone")
        return await self._store.write(work)


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
        async def send(self, letter: Outgoing) -> None:
            await super().send(letter)
            await send_due(box.store, second, AFTER_LEASE)  # the lease ran out meanwhile, and another got through
            raise NotNow("too late")

    second = Nowhere()
    box.send(Slow())
    assert len(second.sent) == 1
    assert (box.only().status, box.only().sent_ms, box.only().error) == ("sent", AFTER_LEASE, None)


def test_being_told_to_stop_frees_what_was_not_tried(box: Letterbox) -> None:
    for _ in range(sending.BATCH):
        box.post()

    class Stuck(Nowhere):
        async def send(self, letter: Outgoing) -> None:
            await super().send(letter)
            await asyncio.sleep(60)

    async def stop_soon() -> None:
        stuck = Stuck()
        task = asyncio.create_task(send_due(box.store, stuck, NOW))
        while len(stuck.sent) < sending.LANES:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    box.run(stop_soon())
    out = Nowhere()
    box.send(out, NOW)
    assert len(out.sent) == sending.BATCH - sending.LANES
    box.send(out, AFTER_LEASE)
    assert len({letter.id for letter in out.sent}) == sending.BATCH


def test_a_server_that_never_answers_is_given_up_on(box: Letterbox, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert box.only().status == "waiting" and "longer than" in (box.only().error or "")


def test_whoever_is_erased_before_or_while_the_round_runs_gets_no_letter(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LANES", 1)
    ann, bea = new_id(), new_id()
    box.post(about=ann, subject="To Ann")
    box.write(lambda tx: letters.erase(tx, box.account_id, ann))
    box.post(about=bea, subject="To Bea", now_ms=NOW + 1)
    box.post(about=bea, subject="To Bea again", now_ms=NOW + 1)

    class ErasesBea(SmtpTransport):
        async def send(self, letter: Outgoing) -> None:
            await super().send(letter)
            await box.store.write(lambda tx: letters.erase(tx, box.account_id, bea))

    box.send(ErasesBea(mailbox.url, FROM), NOW + 1)
    box.send(smtp, NOW + DAY_MS)
    assert len(mailbox.received) == 1 and mailbox.subjects[0].startswith("To Bea")
    assert {letter.status for letter in box.of_account()} == {"cancelled"}
    assert {letter.to_email for letter in box.of_account()} == {None}


def test_a_key_to_something_is_not_kept_once_the_letter_is_out(box: Letterbox) -> None:
    box.post(kind="password_reset", text="https://r.example/reset/secret")
    box.post(kind="budget_warning", text="80 %")
    box.settle(NOW)
    kept = {letter.kind: box.columns("body_text", letter.id)[0] for letter in box.of_account()}
    assert kept == {"password_reset": None, "budget_warning": "80 %"}


HOSTILE = [
    "Hi\r\nBcc: eve@example.org",
    "Hi\nContent-Type: text/html\n\n<script>",
    "Hi\r\n.\r\nMAIL FROM:<eve@example.org>",
    "Hi\u2028Bcc: eve@example.org",
    "Hi\x0bBcc: eve@example.org",
    "=?utf-8?q?Hi=0D=0ABcc=3A_eve=40example=2Eorg?=",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_can_add_a_header_or_a_recipient(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, hostile: str) -> None:
    box.post(subject=hostile, from_name=hostile, text=f"{hostile}\r\n.\r\nRCPT TO:<eve@example.org>\r\n.\r\nend\n")
    box.send(smtp)
    (got,) = mailbox.received
    assert got.to == "ann@example.org" and got.message["Bcc"] is None and "eve" not in str(got.message["To"])
    assert got.message.get_content_type() == "text/plain" and got.text.rstrip().endswith("end")
    assert got.sender == "daily@example.com" and len(got.message["From"].addresses) == 1
    assert got.message["From"].addresses[0].addr_spec == "daily@example.com"


def test_no_address_can_add_a_header_either(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport) -> None:
    box.post(to="=?utf-8?q?a=0D=0ABcc=3Aeve=40example=2Eorg?=@example.org")
    box.send(smtp)
    assert mailbox.received == [] and "encoded word" in (box.only().error or "")


def test_a_message_that_would_read_differently_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "_header", lambda text: text)  # the first belt is off
    letter = Outgoing(new_id(), new_id(), "notice", "ann@example.org", None, HOSTILE[-1], "Text", None, NOW, 1)
    with pytest.raises((ValueError, MessageError)):  # newer Pythons notice it themselves
        transports.compose(letter, FROM)


def test_letters_in_every_script_arrive_as_they_were_written(box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport) -> None:
    subject, text = "Grüße, 世界 🐝 – " + "ein langer Betreff " * 10, "Schöne Grüße\n" + "ё" * 2000 + "\n.\n..zwei Punkte\n"
    box.post(to="jörg@bücher.example", subject=subject, text=text, from_name="Die “Zeit”, täglich")
    box.send(smtp)
    (got,) = mailbox.received
    assert got.to == "jörg@xn--bcher-kva.example"
    assert (got.subject, got.text) == (subject.strip(), text)
    name = got.message["From"].addresses[0].display_name
    assert name.encode(errors="surrogateescape").decode() == "Die “Zeit”, täglich"


def test_an_address_the_server_cannot_spell_is_refused_and_the_others_go(box: Letterbox) -> None:
    box.post(to="jörg@example.org")
    box.post(to="ann@example.org", subject="Grüße")
    with Mailbox(utf8=False) as mailbox:
        box.send(SmtpTransport(mailbox.url, FROM))
        assert [(got.to, got.subject) for got in mailbox.received] == [("ann@example.org", "Grüße")]
    assert sorted(letter.error or "" for letter in box.of_account())[1].startswith(
        "The mail server cannot reach such an address"
    )


def test_a_login_is_made_and_a_wrong_one_keeps_the_letter_waiting(box: Letterbox) -> None:
    box.post()
    with Mailbox(login=("us er", "p@ss:w/rd")) as mailbox:
        box.send(SmtpTransport(f"smtp://us%20er:wrong@127.0.0.1:{mailbox.port}", FROM))
        assert box.only().status == "waiting" and "535" in (box.only().error or "")
        box.send(SmtpTransport(f"smtp://us%20er:p%40ss%3Aw%2Frd@127.0.0.1:{mailbox.port}", FROM), NOW + MINUTE_MS)
        assert [got.user for got in mailbox.received] == ["us er"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_starttls_is_used_when_offered_and_a_password_goes_out_only_to_a_proven_server(
    box: Letterbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=mail.example.org",
         "-keyout", key, "-out", certificate], check=True, capture_output=True,
    )  # fmt: skip
    offered = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    offered.load_cert_chain(certificate, key)
    box.post()
    with Mailbox(tls=offered) as mailbox:
        box.send(SmtpTransport(mailbox.url, FROM))
        assert [got.encrypted for got in mailbox.received] == [True]

    monkeypatch.setattr(transports.Server, "is_here", False)
    box.post(now_ms=NOW + 1)
    with Mailbox(tls=offered, login=("ann", "secret")) as forged, Mailbox(login=("ann", "secret")) as plain:
        for number, server in enumerate((forged, plain)):
            now_ms = NOW + DAY_MS * (number + 1)
            box.send(SmtpTransport(f"smtp://ann:secret@127.0.0.1:{server.port}", FROM), now_ms)
            assert server.asked_for_login == 0 and server.received == []
    assert box.of_account()[0].status == "waiting"


def test_a_folder_takes_letters_as_files_and_a_twin_overwrites(box: Letterbox, tmp_path: Path) -> None:
    folder = tmp_path / "new folder"
    out = transport_for(f"file://{str(folder).replace(' ', '%20')}", FROM)
    assert isinstance(out, FolderTransport)
    box.post(to="jörg@example.org", subject="Grüße")
    with pytest.raises(Unavailable):
        box.run(send_due(Unrecorded(box.store), out, NOW))  # type: ignore[arg-type]
    box.send(out, AFTER_LEASE)
    (file,) = folder.iterdir()
    assert file.name == f"{box.only().id}.eml" and "jörg@example.org" in file.read_text()


def test_without_a_server_the_whole_letter_is_printed(box: Letterbox, capsys: pytest.CaptureFixture[str]) -> None:
    out = transport_for("", FROM)
    assert isinstance(out, LogTransport)
    box.post(kind="hub_link", to="jörg@example.org", subject="Deine Seite 🐝", text="Hier:\nhttps://r.example/hub/abc\n")
    box.send(out)
    printed = capsys.readouterr().out
    for part in ("jörg@example.org", "Deine Seite 🐝", "\nhttps://r.example/hub/abc\n"):
        assert part in printed
    assert box.only().status == "sent"


@pytest.mark.parametrize(
    "url",
    ["http://mail.example.org", "smtp://", "smtp://:25", "mail.example.org:25", "smtp://host:99999", "file://relative/path", "file:///",
     "smtp://user:pa?ss@host", "smtp://user:pa#ss@host", "smtp:host"],
)  # fmt: skip
def test_a_wrong_mail_address_stops_the_start_with_a_sentence(url: str) -> None:
    with pytest.raises(WrongSetting, match="HONEYGUIDE_SMTP_URL must be"):
        read_settings({"HONEYGUIDE_SMTP_URL": url})


@pytest.mark.parametrize(
    "sender", ["", "Daily", "Daily <daily>", "Däily <jörg@example.org>", "A\nB <a@example.org>", "@example.org"]
)
def test_a_wrong_sender_stops_the_start_with_a_sentence(sender: str) -> None:
    with pytest.raises(WrongSetting, match="HONEYGUIDE_MAIL_FROM must be"):
        read_settings({"HONEYGUIDE_MAIL_FROM": sender})


def test_ports_follow_from_the_address() -> None:
    def port(url: str) -> int:
        assert read_settings({"HONEYGUIDE_SMTP_URL": url}).smtp_url == url
        return transports.server_of(url).port

    assert [port("smtp://h"), port("smtp://u:p@h"), port("smtps://h"), port("smtp://[::1]:2525")] == [25, 587, 465, 2525]
    assert transports.server_of("smtp://[::1]").is_here and not transports.server_of("smtp://mail.example.org").is_here
    with pytest.raises(Invalid):
        transport_for("gopher://h", FROM)
