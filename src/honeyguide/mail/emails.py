"""Emails as rows, written in the transaction of the change that they are about, and sent later.

They are rendered here and not by the sender: a row says all that is needed to send it, so an email
leaves as it was when it happened, whatever the operator changes meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from markupsafe import escape

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.mail import email_kinds, layout
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.layout import HONEYGUIDE, NO_LINKS, EmailBranding, EmailLinks, EmailParts
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

TOPIC = "emails"
KEPT_MS = 90 * DAY_MS
PURGE_BATCH = 500


class EmailToSend(NamedTuple):
    account_id: str
    """Whose email it is: of the newsletter that sends it, or of the user who is notified."""
    to: EmailAddress
    kind: EmailKind
    message: EmailText
    brand: EmailBranding = HONEYGUIDE
    links: EmailLinks = NO_LINKS
    """With a `stop` it is one that nobody asked for: it is not sent to somebody who stopped such
    emails or unsubscribed."""
    parts: EmailParts | None = None
    """What it says if that is not just the message."""
    about: str | None = None
    """The subscriber."""
    once: str | None = None
    """An account sends at most one email per `once`."""
    delay_ms: int = 0
    """Until this has passed it can be withdrawn."""
    held_code: str | None = None
    """It waits until somebody releases the emails of this referral code."""

    def rendered(self) -> EmailParts:
        return self.parts or layout.parts(self.message, self.brand, self.links)


class QueuedEmail(NamedTuple):
    """An email as its account's owner sees it in a list: without its text."""

    id: str
    kind: str
    to_email: str | None
    subject: str | None
    about_id: str | None
    created_ms: int
    due_ms: int | None
    attempts: int
    sent_ms: int | None
    failed_ms: int | None
    error: str | None
    held_code: str | None
    """It waits because of this referral code, and is not due before it is released."""
    bounced: bool
    """There is no such mailbox: the server said so now, or earlier and it was not sent."""

    @property
    def status(self) -> str:
        if self.sent_ms is not None:
            return "sent"
        if self.failed_ms is not None:
            return "failed"
        if self.held_code is not None:
            return "held"
        return "cancelled" if self.due_ms is None else "waiting"


class Bounce(NamedTuple):
    mailbox: str
    bounced_ms: int


class Backlog(NamedTuple):
    """What should be gone by now, and since when the oldest of it."""

    n: int
    since_ms: int | None


class _UnsentTexts(NamedTuple):
    id: str
    body_text: str
    body_html: str | None
    unsubscribe_url: str | None


class RecentCounts(NamedTuple):
    of_account: int
    of_account_today: int
    of_all: int
    of_all_this_hour: int


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_ACCOUNT = _sql.query("of_account", QueuedEmail)
_FIND_BOUNCES = _sql.query("find_bounces", Bounce)
_TEXT_OF = _sql.value("text_of", str)
_OF_SUBSCRIBER = _sql.query("of_subscriber", QueuedEmail)
_COUNT_RECENT = _sql.query("count_recent", RecentCounts)
_BACKLOG = _sql.query("backlog", Backlog)
_UNSENT = _sql.query("unsent", Backlog)
_ERASE = _sql.command("erase")
_REPLACE_ENDING = _sql.command("replace_ending")
_WITHDRAW = _sql.command("withdraw")
_CANCEL_UNSENT = _sql.command("cancel_unsent")
_UNSENT_TO = _sql.query("unsent_to", _UnsentTexts)
_REWRITE = _sql.command("rewrite")
_MARK_ALL_SENT = _sql.command("mark_all_sent")
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def one_line(text: str) -> str:
    """Fit for a header: a name that somebody typed may contain line breaks, which would split the
    header."""
    return " ".join(_CONTROLS.sub(" ", text).split())


async def send(tx: Tx, email: EmailToSend) -> bool:
    """Queues an email: False if there is one with its `once` already.

    A transaction that queues several with a `once` does so in the same order everywhere, or
    PostgreSQL would have deadlocks to resolve.
    """
    kind, brand = email.kind, email.brand
    assert kind is email_kinds.declared(kind.name), kind
    made = email.rendered()
    row: dict[str, Any] = {
        "id": new_id(),
        "account_id": email.account_id,
        "kind": kind.name,
        "to_email": email.to.text,
        "mailbox": email.to.person,
        "from_name": one_line(brand.from_name) if brand.from_name else None,
        "reply_to": brand.reply_to,
        "unsubscribe_url": email.links.stop,
        "subject": one_line(email.message.subject),
        "body_text": made.text,
        "body_html": made.html,
        "about_id": email.about,
        "once_key": email.once,
        "waited_for": kind.is_waited_for,
        "held_code": email.held_code,
        "due_ms": tx.now_ms + email.delay_ms if email.held_code is None else None,
        # One that is held may be released before the delay is over; nobody sends it until then.
        "lease_until_ms": tx.now_ms + email.delay_ms if email.held_code is not None else 0,
        "now_ms": tx.now_ms,
    }
    if email.held_code is None:
        tx.wake(TOPIC)
    if email.once is not None:
        return bool(await tx.run(_INSERT, **row))
    await tx.put(_INSERT, **row)
    return True


async def of_account(at: AccountReading, page: Page) -> list[QueuedEmail]:
    """What went out on this account's behalf, newest first."""
    return await at.all(_OF_ACCOUNT, per_page=page.per_page, skip=page.skip)


async def text_of(at: AccountReading, email_id: str) -> str | None:
    """The text as it was sent, while it is kept."""
    return await at.one(_TEXT_OF, id=email_id)


async def of_subscriber(at: AccountReading, about_id: str) -> list[QueuedEmail]:
    """Every email about one subscriber, newest first: for the timeline and the export."""
    return await at.all(_OF_SUBSCRIBER, about_id=about_id)


async def find_bounces(at: AccountReading, about_id: str) -> list[Bounce]:
    """Emails to this subscriber that bounced, or were not sent because an earlier one did, the
    newest first."""
    return await at.all(_FIND_BOUNCES, about_id=about_id)


async def count_recent(
    at: AccountReading, to: EmailAddress, kind: EmailKind, *, since_ms: int, now_ms: int
) -> RecentCounts:
    """Emails of a kind to this mailbox: those of this account since a time and in a day, and those
    of all accounts in a day and in an hour."""
    found = await at.one(
        _COUNT_RECENT,
        mailbox=to.person,
        kind=kind.name,
        since_ms=since_ms,
        hour_ago_ms=now_ms - HOUR_MS,
        day_ago_ms=now_ms - DAY_MS,
    )
    return found or RecentCounts(0, 0, 0, 0)


async def backlog(tx: Tx) -> Backlog:
    """Of all accounts, for the administrator."""
    return await tx.one(_BACKLOG) or Backlog(0, None)


async def unsent(tx: Tx, *, most: int) -> Backlog:
    """Emails of all accounts that are to be sent, now or at their next attempt, and when the oldest
    was written. At most so many are counted.
    """
    return await tx.one(_UNSENT, most=most) or Backlog(0, None)


async def erase(change: Change, about_id: str) -> None:
    """Empties every email about a subscriber and cancels those not sent yet. Their rows remain."""
    await change.run(_ERASE, about_id=about_id)


async def replace_ending(tx: Tx, account_id: str, kind: str, ending: str, instead: str) -> None:
    """What a paragraph ends with, in emails of this kind that are not sent yet."""
    await tx.run(
        _REPLACE_ENDING,
        account_id=account_id,
        kind=kind,
        ending=f"{ending}\n",
        instead=f"{instead}\n",
        html_ending=f"{escape(ending)}</p>",
        html_instead=f"{escape(instead)}</p>",
    )


async def withdraw(tx: Tx, account_id: str, once: str) -> None:
    """Deletes an email that nobody has begun to send, so that its `once` can be used again."""
    await tx.run(_WITHDRAW, account_id=account_id, once_key=once)


async def cancel_unsent(change: Change, about_id: str, error: str, *, kind: EmailKind) -> None:
    await change.run(_CANCEL_UNSENT, about_id=about_id, error=error, kind=kind.name)


async def rewrite_unsent(
    change: Change, about_id: str, to: EmailAddress, rewrite: Callable[[str], str]
) -> None:
    """Gives every email to a subscriber that has not left this address, and rewrites its texts."""
    kinds = email_kinds.TO_SUBSCRIBERS
    unsent = await change.all(_UNSENT_TO, about_id=about_id, kinds=kinds)
    for email in unsent:
        stop_url = email.unsubscribe_url
        await change.run(
            _REWRITE,
            id=email.id,
            to_email=to.text,
            mailbox=to.person,
            body_text=rewrite(email.body_text),
            body_html=None if email.body_html is None else rewrite(email.body_html),
            unsubscribe_url=None if stop_url is None else rewrite(stop_url),
        )


async def mark_all_sent(tx: Tx, account_id: str, until_ms: int) -> None:
    """Marks an account's emails up to a time as sent, without sending them."""
    await tx.run(_MARK_ALL_SENT, account_id=account_id, until_ms=until_ms)


# Forgets the text of old emails.
purge = Purge(_OLD, _PURGE, lambda now_ms: {"expired_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)
