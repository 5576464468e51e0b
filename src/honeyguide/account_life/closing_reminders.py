"""The email to the owners three days before their account is closed. It waits among the emails from
the moment that the day is known.
"""

from __future__ import annotations

from honeyguide.accounts import members
from honeyguide.kernel import clock
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import account_life_texts, email_kinds
from honeyguide.store.change import Change
from honeyguide.subscribers import campaigns

REMINDER_MS = 3 * DAY_MS


def page(change: Change) -> str:
    return f"{change.site.base_url}/account/close"


async def queue(change: Change, closes_ms: int) -> None:
    message = account_life_texts.closing_soon(
        newsletter=await campaigns.name_of(change),
        day=clock.short_day(closes_ms),
        link=page(change),
    )
    await members.email_owners(
        change,
        email_kinds.ACCOUNT_CLOSING,
        message,
        once=_once(closes_ms),
        delay_ms=closes_ms - REMINDER_MS - change.now_ms,
    )


async def withdraw(change: Change, closes_ms: int) -> None:
    await members.withdraw_from_owners(change, _once(closes_ms))


def _once(closes_ms: int) -> str:
    return f"closing_soon:{closes_ms}"
