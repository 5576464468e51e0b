"""How emails leave: headers nobody can add to, every script, logins and TLS, a folder, the log,
and the settings.
"""

import json
import sys
from email.errors import MessageError
from email.header import decode_header, make_header
from pathlib import Path

import pytest

from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.mail import transports
from honeyguide.mail.sending import send_due
from honeyguide.mail.transports import (
    FolderTransport,
    LogTransport,
    OutgoingEmail,
    SmtpTransport,
    transport_for,
)
from honeyguide.settings import WrongSetting
from honeyguide.settings import read as read_settings
from tests.support.certificates import certified
from tests.support.mailbox import FROM, Mailbox
from tests.support.queued_emails import AFTER_LEASE, NOW, Letterbox, Unrecorded

HOSTILE = [
    "Hi\r\nBcc: eve@example.org",
    "Hi\nContent-Type: text/html\n\n<script>",
    "Hi\r\n.\r\nMAIL FROM:<eve@example.org>",
    "Hi\u2028Bcc: eve@example.org",
    "Hi\x0bBcc: eve@example.org",
    "=?utf-8?q?Hi=0D=0ABcc=3A_eve=40example=2Eorg?=",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_can_add_a_header_or_a_recipient(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, hostile: str
) -> None:
    box.post(
        subject=hostile,
        from_name=hostile,
        text=f"{hostile}\r\n.\r\nRCPT TO:<eve@example.org>\r\n.\r\nend\n",
    )
    box.send(smtp)
    (got,) = mailbox.received
    assert (
        got.to == "ann@example.org"
        and got.message["Bcc"] is None
        and "eve" not in str(got.message["To"])
    )
    assert got.message.get_content_type() == "text/plain" and got.text.rstrip().endswith("end")
    assert got.sender == "daily@example.com" and len(got.message["From"].addresses) == 1
    assert got.message["From"].addresses[0].addr_spec == "daily@example.com"


def test_no_address_can_add_a_header_either(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    box.post(to="=?utf-8?q?a=0D=0ABcc=3Aeve=40example=2Eorg?=@example.org")
    box.send(smtp)
    assert mailbox.received == [] and "encoded word" in (box.only().error or "")


def test_a_message_that_would_read_differently_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "_header", lambda text: text)  # the first belt is off
    email = OutgoingEmail(
        id=new_id(),
        account_id=new_id(),
        kind="notice",
        to="ann@example.org",
        from_name=None,
        reply_to=None,
        unsubscribe_url=None,
        subject=HOSTILE[-1],
        text="Text",
        html=None,
        created_ms=NOW,
        attempts=1,
    )
    with pytest.raises((ValueError, MessageError)):  # newer Pythons notice it themselves
        transports.compose(email, FROM)


def test_letters_in_every_script_arrive_as_they_were_written(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    subject, text = (
        "Grüße, 世界 🐝 – " + "ein langer Betreff " * 10,
        "Schöne Grüße\n" + "ё" * 2000 + "\n.\n..zwei Punkte\n",
    )
    box.post(to="jörg@bücher.example", subject=subject, text=text, from_name="Die “Zeit”, täglich")
    box.send(smtp)
    (got,) = mailbox.received
    assert got.to == "jörg@xn--bcher-kva.example"
    assert (got.subject, got.text) == (subject.strip(), text)
    name = got.message["From"].addresses[0].display_name
    assert name.encode(errors="surrogateescape").decode() == "Die “Zeit”, täglich"


def test_no_space_is_lost_where_a_header_is_broken(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    """Whatever its length: the break is at another place each time."""
    arabic, german = "صديق واحد آخر وتحصل على «Our tasting guide»", "Grüße für Käse über Öl "
    written = [arabic, *(("ab " * n + german * 3).strip() for n in range(12))]
    for subject in written:
        box.post(subject=subject, from_name=subject[:60].strip())
    box.send(smtp)
    assert {got.subject for got in mailbox.received} == {*written}
    # The parser of the email package puts spaces between the encoded words of a name.
    raw = [dict(got.message.raw_items())["From"] for got in mailbox.received]
    names = {str(make_header(decode_header(each))) for each in raw}
    assert names == {f"{each[:60].strip()} <daily@example.com>" for each in written}


def test_an_address_the_server_cannot_spell_is_refused_and_the_others_go(box: Letterbox) -> None:
    box.post(to="jörg@example.org")
    box.post(to="ann@example.org", subject="Grüße")
    with Mailbox(utf8=False) as mailbox:
        box.send(SmtpTransport(mailbox.url, FROM))
        assert [(got.to, got.subject) for got in mailbox.received] == [("ann@example.org", "Grüße")]
    assert sorted(email.error or "" for email in box.of_account())[1].startswith(
        "The mail server does not support this email address"
    )


def test_a_login_is_made_and_a_wrong_one_keeps_the_letter_waiting(box: Letterbox) -> None:
    box.post()
    with Mailbox(login=("us er", "p@ss:w/rd")) as mailbox:
        box.send(SmtpTransport(f"smtp://us%20er:wrong@127.0.0.1:{mailbox.port}", FROM))
        assert box.only().status == "waiting" and "535" in (box.only().error or "")
        box.send(
            SmtpTransport(f"smtp://us%20er:p%40ss%3Aw%2Frd@127.0.0.1:{mailbox.port}", FROM),
            NOW + MINUTE_MS,
        )
        assert [got.user for got in mailbox.received] == ["us er"]


def test_starttls_is_used_when_offered_and_a_password_goes_out_only_to_a_proven_server(
    box: Letterbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered, _ = certified("mail.example.org")
    box.post()
    with Mailbox(tls=offered) as mailbox:
        box.send(SmtpTransport(mailbox.url, FROM))
        assert [got.encrypted for got in mailbox.received] == [True]

    monkeypatch.setattr(transports.SmtpServer, "is_here", False)
    box.post(now_ms=NOW + 1)
    with (
        Mailbox(tls=offered, login=("ann", "secret")) as forged,
        Mailbox(login=("ann", "secret")) as plain,
    ):
        for number, server in enumerate((forged, plain)):
            now_ms = NOW + DAY_MS * (number + 1)
            box.send(SmtpTransport(f"smtp://ann:secret@127.0.0.1:{server.port}", FROM), now_ms)
            assert server.asked_for_login == 0 and server.received == []
    assert box.of_account()[0].status == "waiting"


def test_a_folder_takes_letters_as_files_and_a_twin_overwrites(
    box: Letterbox, tmp_path: Path
) -> None:
    folder = tmp_path / "new folder"
    out = transport_for(f"file://{str(folder).replace(' ', '%20')}", FROM)
    assert isinstance(out, FolderTransport)
    box.post(to="jörg@example.org", subject="Grüße")
    with pytest.raises(Unavailable):
        box.run(send_due(Unrecorded(box.store), out, NOW))  # type: ignore[arg-type]
    box.send(out, AFTER_LEASE)
    (file,) = folder.iterdir()
    assert file.name == f"{box.only().id}.eml" and "jörg@example.org" in file.read_text()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_without_a_server_the_whole_letter_is_printed(
    box: Letterbox,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    out = transport_for("", FROM)
    assert isinstance(out, LogTransport)
    box.post(
        kind="hub_link",
        to="jörg@example.org",
        subject="Deine Seite 🐝",
        text="Hier:\nhttps://r.example/hub/abc\n",
    )
    box.send(out)
    printed = capsys.readouterr().out
    if not is_terminal:  # one line of JSON, as the log has it
        line = json.loads(printed)
        printed = f"{line['to']} {line['subject']} {line['text']}"
    for part in ("jörg@example.org", "Deine Seite 🐝", "\nhttps://r.example/hub/abc\n"):
        assert part in printed
    assert box.only().status == "sent"


@pytest.mark.parametrize(
    "url",
    [
        "http://mail.example.org",
        "smtp://",
        "smtp://:25",
        "mail.example.org:25",
        "smtp://host:99999",
        "file://relative/path",
        "file:///",
        "smtp://user:pa?ss@host",
        "smtp://user:pa#ss@host",
        "smtp:host",
    ],
)
def test_a_wrong_mail_address_stops_the_start_with_a_sentence(url: str) -> None:
    with pytest.raises(WrongSetting, match="HONEYGUIDE_SMTP_URL must be"):
        read_settings({"HONEYGUIDE_SMTP_URL": url})


@pytest.mark.parametrize(
    "sender",
    [
        "",
        "Daily",
        "Daily <daily>",
        "Däily <jörg@example.org>",
        "A\nB <a@example.org>",
        "@example.org",
    ],
)
def test_a_wrong_sender_stops_the_start_with_a_sentence(sender: str) -> None:
    with pytest.raises(WrongSetting, match="HONEYGUIDE_MAIL_FROM must be"):
        read_settings({"HONEYGUIDE_MAIL_FROM": sender})


def test_ports_follow_from_the_address() -> None:
    def port(url: str) -> int:
        assert read_settings({"HONEYGUIDE_SMTP_URL": url}).smtp_url == url
        return transports.server_of(url).port

    assert [
        port("smtp://h"),
        port("smtp://u:p@h"),
        port("smtps://h"),
        port("smtp://[::1]:2525"),
    ] == [25, 587, 465, 2525]
    assert (
        transports.server_of("smtp://[::1]").is_here
        and not transports.server_of("smtp://mail.example.org").is_here
    )
    with pytest.raises(Invalid):
        transport_for("gopher://h", FROM)
