"""Notifications on the dashboard, each with an email that says the same. The two are written
together, once per cause, however many processes see the cause at once.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.mail import account_emails
from honeyguide.mail.content import EmailText
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Notification(NamedTuple):
    id: str
    kind: str
    sentence: str
    link: str | None
    created_ms: int
    read_ms: int | None


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_COUNT_UNREAD = _sql.value("count_unread", int)
_LIST = _sql.query("list", Notification)
_READ_ALL = _sql.command("read_all")


async def notify(
    tx: Tx,
    account_id: str,
    to: str,
    kind: str,
    once: str,
    message: EmailText,
    *,
    link: str,
    now_ms: int,
) -> None:
    """Adds a notification and queues its email to the account's owner, once for each `once`."""
    is_new = await tx.run(
        _INSERT,
        id=new_id(),
        account_id=account_id,
        kind=kind,
        once_key=once,
        sentence=message.subject,
        link=link,
        now_ms=now_ms,
    )
    if is_new:
        await account_emails.send(
            tx, account_id, EmailAddress(to), kind, message, once=once, now_ms=now_ms
        )


async def unread(tx: Tx, account_id: str) -> int:
    return await tx.one(_COUNT_UNREAD, account_id=account_id) or 0


async def page_of(tx: Tx, account_id: str, page: Page) -> list[Notification]:
    return await tx.all(_LIST, account_id=account_id, most=page.per_page, skip=page.skip)


async def read_all(tx: Tx, account_id: str, *, now_ms: int) -> None:
    await tx.run(_READ_ALL, account_id=account_id, now_ms=now_ms)
