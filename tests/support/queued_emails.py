"""A database of emails of its own, without a service: nobody but the test sends what lies
in it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.mail import content, email_kinds, emails, sending
from honeyguide.mail.emails import EmailToSend, QueuedEmail
from honeyguide.mail.layout import EmailBranding, EmailLinks, EmailParts
from honeyguide.mail.sending import send_due
from honeyguide.mail.transports import OutgoingEmail, Transport
from honeyguide.store import Store, open_store
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx
from tests.support.readings import in_account

from . import used_databases
from .service import fresh_database_url

T = TypeVar("T")
NOW = 1_794_700_000_000
# Whatever was taken at NOW and not recorded is free again.
AFTER_LEASE = NOW + sending.LEASE_MS


class Nowhere:
    """Takes every email and keeps it."""

    def __init__(self) -> None:
        self.sent: list[OutgoingEmail] = []

    async def send(self, email: OutgoingEmail) -> None:
        self.sent.append(email)

    async def rest(self) -> None:
        pass


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


class Letterbox:
    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.folder = Path(tempfile.mkdtemp(prefix="hgmail"))
        self.url = fresh_database_url(engine, self.folder, migrated=True)
        self.account_id = new_id()
        self.woken = 0

    def __enter__(self) -> Letterbox:
        self._runner = asyncio.Runner()
        self.store: Store = self.run(open_store(self.url))
        self.run(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.store.close())
        self._runner.close()
        used_databases.give_back(self.url)

    async def _listen(self) -> None:
        def woken() -> None:
            self.woken += 1

        # Only this process's own notice is counted: on PostgreSQL the same one also comes back
        # through the server.
        if self.engine == "sqlite":
            self.store.listen(emails.TOPIC, woken)
        else:
            self.store._listeners.setdefault(emails.TOPIC, []).append(woken)  # type: ignore[attr-defined]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(asyncio.wait_for(work, 60))

    def write(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        return self.run(self.store.write(work))

    def read(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        return self.run(self.store.snapshot(work))

    def empty(self) -> None:
        self.account_id = new_id()
        self._raw("DELETE FROM letter")

    def _raw(self, sql: str, **params: Any) -> list[Any]:
        return self.write(
            lambda tx: tx.all(Statement("test", sql, sql, lambda *row: list(row)), **params)
        )  # type: ignore[arg-type,return-value]

    def columns(self, names: str, email_id: str) -> list[Any]:
        (row,) = self._raw(
            f"SELECT {names} FROM letter WHERE id = :id".replace(":id", f"'{email_id}'")
        )
        return list(row)

    async def put(self, tx: Tx, **given: Any) -> None:
        usual = {
            "account_id": self.account_id,
            "to": "ann@example.org",
            "kind": "first_referral",
            "subject": "News",
            "text": "Text\n",
        }
        given = {**usual, **given}
        now_ms = given.pop("now_ms", NOW)
        given["to"] = EmailAddress.parse(given["to"])
        if isinstance(given["kind"], str):
            given["kind"] = email_kinds.declared(given["kind"])
        given["message"] = content.email(given.pop("subject"))
        given["parts"] = EmailParts(given.pop("text"), given.pop("html", None))
        branding = {name: given.pop(name, None) for name in ("from_name", "reply_to")}
        given["brand"] = EmailBranding("The Morning Wax", **branding)
        given["links"] = EmailLinks(stop=given.pop("unsubscribe_url", None))
        await emails.send(tx.at(now_ms), EmailToSend(**given))

    def post(self, **given: Any) -> None:
        self.write(lambda tx: self.put(tx, **given))

    def of_account(
        self, account_id: str | None = None, page: Page | None = None
    ) -> list[QueuedEmail]:
        return self.read(
            lambda tx: emails.of_account(
                in_account(tx, account_id or self.account_id), page or Page()
            )
        )

    def only(self) -> QueuedEmail:
        (email,) = self.of_account()
        return email

    def send(self, transport: Transport, now_ms: int = NOW) -> bool:
        return self.run(send_due(self.store, transport, now_ms))

    def settle(self, now_ms: int) -> None:
        """Everything that is due goes out."""
        while self.send(Nowhere(), now_ms):
            pass
