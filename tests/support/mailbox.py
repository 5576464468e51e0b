"""A real SMTP server on loopback that keeps what it gets and misbehaves as told."""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections import deque
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from .postgres import free_port

# The sender of every email of these tests.
FROM = "The Daily <daily@example.com>"
DROP = "drop"


@dataclass(frozen=True)
class Received:
    sender: str
    to: str
    message: EmailMessage
    encrypted: bool
    user: str | None

    @property
    def id(self) -> str:
        return str(self.message["Message-ID"])

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def text(self) -> str:
        body = self.message.get_body(("plain",))
        assert body is not None
        return str(body.get_content()).replace("\r\n", "\n")


class Mailbox:
    """`with Mailbox() as mailbox: ... mailbox.url`. Answers scripted with `say` are given first,
    one per email, at their step.

    `say("RCPT", "450 later")` refuses a recipient; `say("DATA", DROP)` cuts the line before the
    email is taken, and `say("TAKEN", DROP)` after, so that only the server knows. `login` is
    (user, password).
    """

    def __init__(
        self,
        *,
        login: tuple[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        utf8: bool = True,
    ) -> None:
        self.port = free_port()
        self.received: list[Received] = []
        self.connections = 0
        self.asked_for_login = 0
        self._login = login
        self._options: dict[str, Any] = {"enable_SMTPUTF8": utf8, "tls_context": tls}
        if login:
            self._options |= {
                "authenticator": self._admit,
                "auth_required": True,
                "auth_require_tls": tls is not None,
            }
        self._script: dict[str, deque[str]] = {}
        self._lock = threading.Lock()
        self._controller: Controller | None = None

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    @property
    def subjects(self) -> list[str]:
        return [email.subject for email in self.received]

    def links_to(self, to: str, start: str) -> list[str]:
        """The paths of the links in emails to this address that begin like this, oldest first."""
        texts = [each.text for each in self.received if each.to == to]
        return re.findall(rf"https?://[^/\s]+({start}\S+)", "\n".join(texts))

    def link_to(self, to: str, start: str, *, after: int = 0) -> str:
        """The newest of them, once there are more than `after`."""
        give_up = time.monotonic() + 60
        while len(found := self.links_to(to, start)) <= after:
            assert time.monotonic() < give_up, f"no email to {to} has a link to {start}"
            time.sleep(0.02)
        return found[-1]

    def codes_to(self, to: str) -> list[str]:
        """The codes in the emails to this address, which stand on a line of their own."""
        texts = [each.text for each in self.received if each.to == to]
        return re.findall(r"^(\d{6})$", "\n".join(texts), re.MULTILINE)

    def code_to(self, to: str) -> str:
        """The newest, once one has arrived."""
        give_up = time.monotonic() + 60
        while not self.codes_to(to):
            assert time.monotonic() < give_up, f"no email to {to} has a code"
            time.sleep(0.02)
        return self.codes_to(to)[-1]

    def say(self, step: str, *answers: str) -> None:
        with self._lock:
            self._script.setdefault(step, deque()).extend(answers)

    def forget_script(self) -> None:
        with self._lock:
            self._script.clear()

    def start(self) -> None:
        self._controller = Controller(
            self, hostname="127.0.0.1", port=self.port, ready_timeout=30, **self._options
        )
        self._controller.start()

    def stop(self) -> None:
        if self._controller is not None:
            self._controller.stop(no_assert=True)
            self._controller = None

    def __enter__(self) -> Mailbox:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _next(self, step: str) -> str | None:
        with self._lock:
            script = self._script.get(step)
            return script.popleft() if script else None

    def _admit(
        self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any
    ) -> AuthResult:
        self.asked_for_login += 1
        assert isinstance(data, LoginPassword)
        right = self._login == (data.login.decode(), data.password.decode())
        return AuthResult(success=right, handled=False, auth_data=data.login.decode())

    # What aiosmtpd asks.

    async def handle_EHLO(
        self, server: Any, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        self.connections += 1
        session.host_name = hostname
        return responses

    async def handle_MAIL(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        answer = self._next("MAIL")
        if answer:
            return answer
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        answer = self._next("RCPT")
        if answer:
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        answer = self._next("DATA")
        if answer and answer != DROP:
            return answer
        if answer != DROP:
            message = message_from_bytes(envelope.content, policy=policy.default)
            assert isinstance(message, EmailMessage)
            user = session.auth_data if session.authenticated else None
            for to in envelope.rcpt_tos:
                self.received.append(
                    Received(envelope.mail_from, to, message, session.ssl is not None, user)
                )
        if answer == DROP or self._next("TAKEN") == DROP:
            server.transport.abort()
        return "250 OK"
