"""Requests for a link by email: to choose a new password, or to open an account. A form only notes
them, so its answer takes as long for an address that nobody logs in with as for any other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from honeyguide.accounts import invitations
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.mail import emails
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class LinkTo(StrEnum):
    PASSWORD = "password"
    ACCOUNT = "account"


class _LinkRequest(NamedTuple):
    kind: LinkTo
    email: str


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_DUE = _sql.value("due", str)
_TAKE = _sql.query("take", _LinkRequest)


async def ask(tx: Tx, kind: LinkTo, email: EmailAddress, *, now_ms: int) -> None:
    await tx.put(_INSERT, id=new_id(), kind=kind, email=email.text, created_ms=now_ms)
    tx.wake(emails.TOPIC)


async def due(tx: Tx, *, now_ms: int, most: int) -> list[str]:
    return await tx.all(_DUE, most=most)


async def answer(tx: Tx, site: Site, request_id: str, *, now_ms: int) -> None:
    found = await tx.one(_TAKE, id=request_id)
    if found is None:
        return
    send = {LinkTo.PASSWORD: invitations.forgot_password, LinkTo.ACCOUNT: invitations.ask_to_join}
    await send[found.kind](tx, site, EmailAddress(found.email), now_ms=now_ms)
