"""Daily and weekly emails with the notifications that an account wants to get together. They go out
at 8 AM in the account's time zone, weekly ones on Mondays.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import periods
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.periods import zone_of
from honeyguide.kernel.site import Site
from honeyguide.mail import email_kinds, emails
from honeyguide.mail.content import Button, EmailText, Note, email
from honeyguide.mail.emails import EmailToSend
from honeyguide.mail.notification_kinds import DAILY, WEEKLY
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# An email lists at most this many.
MOST_LISTED = 50


class _DueDigest(NamedTuple):
    account_id: str
    email: str


class _Taken(NamedTuple):
    id: str
    sentence: str
    link: str
    created_ms: int


_sql = beside(__file__)
_NEXT_DUE = _sql.query("next_due", _DueDigest)
_TAKE = _sql.query("take", _Taken)


def due_ms(delivery: str, time_zone: str, now_ms: int) -> int | None:
    """When a notification of now is sent in a digest. None if it is not."""
    if delivery == DAILY:
        return periods.next_morning(now_ms, zone_of(time_zone))
    if delivery == WEEKLY:
        return periods.next_monday_morning(now_ms, zone_of(time_zone))
    return None


async def due_accounts(tx: Tx, *, most: int) -> list[str]:
    return [due.account_id for due in await tx.all(_NEXT_DUE, only="", most=most)]


async def send_next(tx: Tx, site: Site, *, only: str = "") -> bool:
    """Queues the digest of one account, this one or the next, and returns whether there was one. A
    notification is in one digest only: whoever takes its row sends it."""
    due = await tx.one(_NEXT_DUE, only=only, most=1)
    if due is None:
        return False
    taken = await tx.all(_TAKE, account_id=due.account_id)
    taken.sort(key=lambda each: (each.created_ms, each.id))
    if taken:
        to, message = EmailAddress(due.email), _message(site, taken)
        digest = EmailToSend(due.account_id, to, email_kinds.DIGEST, message)
        await emails.send(tx, digest)
    return True


def _message(site: Site, taken: list[_Taken]) -> EmailText:
    listed = taken[:MOST_LISTED]
    more = len(taken) - len(listed)
    return email(
        taken[0].sentence if len(taken) == 1 else f"{len(taken):,} new notifications",
        *(Button(each.sentence, f"{site.base_url}{each.link}", is_main=False) for each in listed),
        f"And {more:,} more." if more else None,
        Button("View all notifications", f"{site.base_url}/notices"),
        Note(f"Choose what you get and when: {site.base_url}/notices/preferences"),
    )
