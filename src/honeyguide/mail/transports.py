"""Ways to send an email: SMTP, a folder of .eml files, or standard output when no server is set.

A transport sends one email or raises: `MailRefused` (the server says never), `Bounced` (never,
because there is no such mailbox), `NotNow` (it may work later) or `Down` (no email would get
through now, so the others need not try).
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import ssl
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.utils import parseaddr
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

import aiosmtplib

from honeyguide.kernel import log_context
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.log_context import json_line
from honeyguide.mail import bounces, headers
from honeyguide.mail.emails import one_line

TIMEOUT_S = 15.0
GOODBYE_S = 2.0


class OutgoingEmail(NamedTuple):
    """A claimed email."""

    id: str
    account_id: str
    kind: str
    to: str
    from_name: str | None
    reply_to: str | None
    unsubscribe_url: str | None
    subject: str
    text: str
    html: str | None
    created_ms: int
    attempts: int


class MailRefused(Exception):
    """The server says that it will never take this email."""


class Bounced(MailRefused):
    """There is no such mailbox."""


class NotNow(Exception):
    """This email did not get through; it may later."""


class Down(NotNow):
    """The server cannot be reached, or takes nothing from us."""


class Transport(Protocol):
    async def send(self, email: OutgoingEmail) -> None: ...

    async def check(self) -> None:
        """Find out, without sending anything, whether emails would be taken. Raises `Down`."""
        ...

    async def rest(self) -> None:
        """Nothing more to send for now: let go of connections. Never fails."""
        ...


def _header(text: str) -> str:
    # The email package decodes `=?utf-8?q?…?=` in our text, line breaks included, and writes those
    # out as they are.
    return one_line(text).replace("=?", "= ?")


def _mailbox(address: str, name: str | None) -> Address:
    # Not Address(addr_spec=…), which refuses addresses beyond ASCII. Many mail servers accept those
    # by now.
    local, _, domain = address.rpartition("@")
    if "=?" in address:
        raise ValueError("the email address looks like an encoded word")
    return Address(display_name=_header(name or ""), username=local, domain=domain)


def compose(email: OutgoingEmail, mail_from: str) -> EmailMessage:
    """The same message at every attempt, so that its Message-ID and Date show that a duplicate is
    one."""
    name, address = parseaddr(mail_from)
    message = EmailMessage()
    message["From"] = headers.sender(_mailbox(address, email.from_name or name))
    message["To"] = _mailbox(email.to, None)
    if email.reply_to:
        message["Reply-To"] = _mailbox(email.reply_to, None)
    message["Subject"] = headers.subject(_header(email.subject))
    message["Date"] = datetime.fromtimestamp(email.created_ms / 1000, UTC)
    message["Message-ID"] = f"<{email.id}@{address.rpartition('@')[2]}>"
    # Holiday notices and other robots do not answer what says that a robot wrote it.
    message["Auto-Submitted"] = "auto-generated"
    if email.unsubscribe_url:
        # RFC 8058: mail programs show a button of their own, which posts to this URL.
        url = f"<{email.unsubscribe_url}>"
        message["List-Unsubscribe"] = headers.unfolded("List-Unsubscribe", url)
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(email.text)
    if email.html is not None:
        message.add_alternative(email.html, subtype="html")
    # A second guard: read it back as a server would, and find exactly the headers that we wrote.
    if BytesHeaderParser().parsebytes(_flat(email, message)).keys() != message.keys():
        raise ValueError("one of its headers would be split in two")
    return message


def _flat(email: OutgoingEmail, message: EmailMessage) -> bytes:
    return message.as_bytes(policy=policy.SMTP if email.to.isascii() else policy.SMTPUTF8)


def _composed(email: OutgoingEmail, mail_from: str) -> EmailMessage:
    try:
        return compose(email, mail_from)
    except (ValueError, UnicodeError, MessageError) as error:
        raise MailRefused(f"The email could not be composed: {error}") from error


@dataclass(frozen=True)
class SmtpServer:
    host: str
    port: int
    user: str | None
    password: str
    tls: bool

    @property
    def is_here(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def server_of(smtp_url: str) -> SmtpServer:
    """`smtp://user:password@host:587`; without a port 25, 587 with a password, 465 with smtps."""
    try:
        parts = urlsplit(smtp_url)
        host, port, tls = parts.hostname, parts.port, parts.scheme == "smtps"
    except ValueError:
        host, port, tls = None, None, False
    if not host:
        raise Invalid(
            "HONEYGUIDE_SMTP_URL must be a URL such as smtp://user:password@mail.example.org:587."
        )
    user = unquote(parts.username) if parts.username else None
    usual = 465 if tls else 587 if user else 25
    return SmtpServer(host, port or usual, user, unquote(parts.password or ""), tls)


class SmtpTransport:
    """Connections are kept while emails keep coming. STARTTLS is used whenever it is offered.

    A password is never sent unencrypted: with one, encryption and a valid certificate are required,
    unless the server is on this machine. Without one, any encryption is better than none.
    """

    def __init__(self, smtp_url: str, mail_from: str) -> None:
        self._server = server_of(smtp_url)
        self._from = mail_from
        self._sender = parseaddr(mail_from)[1]
        self._idle: list[aiosmtplib.SMTP] = []

    async def send(self, email: OutgoingEmail) -> None:
        message = _composed(email, self._from)
        client = await self._client()
        usable = False
        try:
            await client.send_message(message, sender=self._sender, recipients=[email.to])
        except aiosmtplib.SMTPSenderRefused as error:
            raise self._sender_refused(error) from error
        except aiosmtplib.SMTPRecipientsRefused as error:
            first = error.recipients[0]
            raise _verdict(first.code, first.message, of_recipient=True) from error
        except aiosmtplib.SMTPResponseException as error:
            raise _verdict(error.code, error.message) from error
        except aiosmtplib.SMTPNotSupported as error:
            raise MailRefused(
                f"The mail server does not support this email address: {error.message}"
            ) from error
        except ValueError as error:
            raise MailRefused(f"Email cannot be sent to this address: {error}") from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise NotNow(f"The connection to the mail server was lost: {error}") from error
        else:
            usable = True
            self._idle.append(client)
        finally:
            # After an error the state of the session is unknown, so do not reuse it.
            if not usable:
                client.close()

    async def check(self) -> None:
        client = await self._client()
        try:
            await client.mail(self._sender)
            await client.rset()
            self._idle.append(client)
        except aiosmtplib.SMTPResponseException as error:
            client.close()
            raise self._sender_refused(error) from error
        except (aiosmtplib.SMTPException, OSError) as error:
            client.close()
            raise Down(f"The connection to the mail server was lost: {error}") from error

    def _sender_refused(self, error: aiosmtplib.SMTPResponseException) -> Down:
        return Down(
            f"The mail server rejected the sender {self._sender}: {error.code} {error.message}"
        )

    async def _client(self) -> aiosmtplib.SMTP:
        while self._idle:
            client = self._idle.pop()
            if client.is_connected:
                return client
        server = self._server
        guarded = server.user is not None and not server.is_here
        client = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            username=server.user,
            password=server.password if server.user else None,
            use_tls=server.tls,
            start_tls=None if server.tls or not guarded else True,
            validate_certs=server.tls or guarded,
            timeout=TIMEOUT_S,
            local_hostname=self._sender.rpartition("@")[2] or "localhost",
        )
        where = f"{server.host}:{server.port}"
        try:
            await client.connect()
        except aiosmtplib.SMTPAuthenticationError as error:
            raise Down(
                f"The mail server {where} refused the user name or password: "
                f"{error.code} {error.message}"
            ) from error
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise Down(f"Could not connect to the mail server {where}: {_reason(error)}") from error
        return client

    async def rest(self) -> None:
        idle, self._idle = self._idle, []
        for client in idle:
            try:
                await client.quit(timeout=GOODBYE_S)
            except (aiosmtplib.SMTPException, OSError):
                client.close()


def _reason(error: BaseException) -> str:
    """In plain words; the library's own error only wraps the system's."""
    cause = error.__cause__ or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {cause.verify_message}"
    if isinstance(cause, TimeoutError):
        return f"it did not answer within {TIMEOUT_S:.0f} seconds"
    if isinstance(cause, socket.gaierror):
        return "there is no host of this name"
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno)
    return str(error)


def _verdict(code: int, message: str, *, of_recipient: bool = False) -> Exception:
    text = f"{code} {message}"
    if code == 421:
        return Down(f"The mail server is shutting down: {text}")
    if not 500 <= code < 600:
        return NotNow(text)
    is_bounce = bounces.is_bounce(code, message, of_recipient=of_recipient)
    return Bounced(text) if is_bounce else MailRefused(text)


class FolderTransport:
    """One .eml file per email, for trying things out and for tests. Sending again overwrites the
    file."""

    def __init__(self, folder: Path, mail_from: str) -> None:
        self._folder = folder
        self._from = mail_from

    async def send(self, email: OutgoingEmail) -> None:
        message = _composed(email, self._from)
        try:
            await asyncio.to_thread(self._write, f"{email.id}.eml", _flat(email, message))
        except OSError as error:
            raise Down(f"Could not write to the folder {self._folder}: {error.strerror}") from error

    async def check(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Down(f"Could not write to the folder {self._folder}: {error.strerror}") from error
        if not os.access(self._folder, os.W_OK | os.X_OK, effective_ids=True):
            raise Down(f"Could not write to the folder {self._folder}: Permission denied")

    def _write(self, name: str, content: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        half = self._folder / f".{name}.half"
        half.write_bytes(content)
        os.replace(half, self._folder / name)  # so nobody reads half an email

    async def rest(self) -> None:
        pass


class LogTransport:
    """No server is set: emails are printed to standard output, where a self-hoster finds the link
    they are waiting for. On a terminal as they are, otherwise as a line of JSON like the log."""

    def __init__(self, mail_from: str) -> None:
        self._from = mail_from

    async def send(self, email: OutgoingEmail) -> None:
        sender = str(_composed(email, self._from)["From"])
        try:
            text = _as_shown(email, sender) if sys.stdout.isatty() else _as_json(email, sender)
            print(text, flush=True)
        except (OSError, ValueError) as error:
            raise Down("Standard output is closed.") from error

    async def check(self) -> None:
        pass

    async def rest(self) -> None:
        pass


def _as_shown(email: OutgoingEmail, sender: str) -> str:
    lines = [
        f"--- Email to {email.to} (HONEYGUIDE_SMTP_URL is not set, so it is printed here)",
        f"From: {sender}",
        f"Subject: {email.subject}",
        "",
        email.text.rstrip(),
        "--- End of email",
    ]
    # An old terminal may not be able to show every character.
    encoding = sys.stdout.encoding or "utf-8"
    return "\n".join(lines).encode(encoding, "backslashreplace").decode(encoding)


def _as_json(email: OutgoingEmail, sender: str) -> str:
    *_, job = log_context.current()
    return json_line(
        {
            "time": iso(email.created_ms),
            "level": "info",
            "logger": "honeyguide.mail",
            "message": "HONEYGUIDE_SMTP_URL is not set, so this email is printed here",
            "event": "email",
            "to": email.to,
            "from": sender,
            "subject": email.subject,
            "text": email.text,
            "request_id": None,
            "account": email.account_id,
            "job": job,
        }
    )


def transport_for(smtp_url: str, mail_from: str) -> Transport:
    """What HONEYGUIDE_SMTP_URL asks for."""
    if not smtp_url:
        return LogTransport(mail_from)
    scheme = smtp_url.partition(":")[0].lower()
    if scheme in ("smtp", "smtps"):
        return SmtpTransport(smtp_url, mail_from)
    if scheme == "file":
        return FolderTransport(Path(unquote(urlsplit(smtp_url).path)), mail_from)
    raise Invalid("HONEYGUIDE_SMTP_URL must start with smtp://, smtps:// or file:///.")
