"""The email to the owners three days before their account is closed. It waits among the emails from
the moment that the day is known.
"""

from __future__ import annotations

from honeyguide.account_life import owner_emails
from honeyguide.kernel import clock
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import account_life_texts, email_kinds
from honeyguide.store.change import Change

REMINDER_MS = 3 * DAY_MS


def page(change: Change) -> str:
    return f"{change.site.base_url}/account/close"


async def queue(change: Change, closes_ms: int) -> None:
    message = account_life_texts.closing_soon(
        newsletter=await owner_emails.newsletter(change),
        day=clock.short_day(closes_ms),
        link=page(change),
    )
    await owner_emails.send(
        change,
        email_kinds.ACCOUNT_CLOSING,
        message,
        once=_once(closes_ms),
        delay_ms=closes_ms - REMINDER_MS - change.now_ms,
    )


async def withdraw(change: Change, closes_ms: int) -> None:
    await owner_emails.withdraw(change, _once(closes_ms))


def _once(closes_ms: int) -> str:
    return f"closing_soon:{closes_ms}"
