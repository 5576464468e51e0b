"""Notifications to operators: on the dashboard, by email at once or in a digest, and to Slack, as
each account chose. All are written together, once per cause, however many processes see the cause
at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.mail import (
    digests,
    email_kinds,
    emails,
    notification_choices,
    slack_messages,
)
from honeyguide.mail.content import EmailText
from honeyguide.mail.emails import EmailToSend, QueuedEmail
from honeyguide.mail.layout import HONEYGUIDE, EmailBranding, EmailLinks, EmailParts
from honeyguide.mail.notification_kinds import AT_ONCE, OFF
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# How long a notification waits that can be withdrawn. The dashboard shows it meanwhile.
WITHDRAWAL_MS = MINUTE_MS


class Notification(NamedTuple):
    account_id: str
    to: str
    """The account's email address."""
    kind: str
    once: str
    message: EmailText
    """What the email says. The dashboard says its subject, or the `sentence`."""
    link: str
    """A path of the dashboard."""
    sentence: str = ""
    brand: EmailBranding = HONEYGUIDE
    parts: EmailParts | None = None
    """What the email says if that is not just the message; with its own link to turn such
    notifications off."""
    turn_off_url: str | None = None
    delay_ms: int = 0
    """With `WITHDRAWAL_MS` it can be withdrawn."""


class NotificationRow(NamedTuple):
    id: str
    kind: str
    sentence: str
    link: str | None
    created_ms: int
    read_ms: int | None
    digest_due_ms: int | None
    """When the digest goes out that it is waiting for."""
    once: str

    @property
    def about(self) -> str:
        """The id of what it is about, for kinds whose cause begins with one."""
        return self.once.split(":")[1] if ":" in self.once else ""

    @property
    def icon(self) -> str:
        return email_kinds.icon_of(self.kind)


class ShownNotification(NamedTuple):
    notification: NotificationRow
    email: QueuedEmail | None
    """The email that said the same."""
    text: str | None
    """What that said, while it is kept."""


class _Waiting(NamedTuple):
    sentence: str
    link: str


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_WAITING = _sql.query("waiting", _Waiting)
_WITHDRAW = _sql.command("withdraw")
_LIST = _sql.query(
    "list",
    lambda *row: ShownNotification(
        NotificationRow(*row[:8]), QueuedEmail(*row[8:21]) if row[8] else None, row[21]
    ),
)
_READ = _sql.command("read")


async def notify(tx: Tx, base_url: str, notification: Notification) -> None:
    """Notifies the account once for each `once`, in the way it chose for this kind."""
    # Before the account's choice, so that a kind that is not declared fails for every account.
    kind = email_kinds.declared(notification.kind)
    account_id, delay_ms = notification.account_id, notification.delay_ms
    how = await notification_choices.delivery_of(tx, account_id, kind.choice)
    if how.delivery == OFF:
        return
    text = notification.sentence or notification.message.subject
    is_new = await tx.run(
        _INSERT,
        id=new_id(),
        account_id=account_id,
        kind=kind.name,
        once_key=notification.once,
        sentence=text,
        link=notification.link,
        digest_due_ms=digests.due_ms(how.delivery, how.time_zone, tx.now_ms + delay_ms),
    )
    if not is_new:
        return
    if how.to_slack:
        await slack_messages.enqueue(tx, account_id, text, notification.link, delay_ms=delay_ms)
    if how.delivery == AT_ONCE:
        preferences = f"{base_url}/notices/preferences" if kind.choice else None
        email = EmailToSend(
            account_id=account_id,
            to=EmailAddress(notification.to),
            kind=kind,
            message=notification.message,
            brand=notification.brand,
            links=EmailLinks(stop=notification.turn_off_url, preferences=preferences),
            parts=notification.parts,
            once=notification.once,
            delay_ms=delay_ms,
        )
        await emails.send(tx, email)


async def withdraw(tx: Tx, account_id: str, once: str) -> bool:
    """Takes back a notification whose cause was undone within the minute: what is not on its way
    is not sent. Returns whether nobody has learned of it, so that its opposite need not be told.
    """
    found = await tx.one(
        _WAITING, account_id=account_id, once_key=once, since_ms=tx.now_ms - WITHDRAWAL_MS
    )
    if found is None:
        return False
    await slack_messages.withdraw(tx, account_id, found.sentence, found.link)
    await emails.withdraw(tx, account_id, once)
    return bool(await tx.run(_WITHDRAW, account_id=account_id, once_key=once))


async def page_of(
    at: AccountReading,
    page: Page,
    *,
    kinds: Sequence[str] = (),
    only_new: bool = False,
    ahead: int = 0,
) -> list[ShownNotification]:
    """The newest first, each with its email; of all kinds, or of these. `ahead` of them are of the
    next page."""
    return await at.all(
        _LIST,
        of_all_kinds=int(not kinds),
        kinds=list(kinds),
        only_new=int(only_new),
        most=page.per_page + ahead,
        skip=page.skip,
    )


async def read(tx: Tx, account_id: str, ids: Sequence[str]) -> None:
    await tx.run(_READ, account_id=account_id, ids=list(ids))
