"""Pausing an account, by an administrator. Its members can read everything and change nothing,
nobody can sign up, and nothing goes out: no emails to subscribers, no webhooks, no syncs, no fees.
What was due waits until the account is resumed.

The partner programs of an account that is paused or is being closed are off, and come on again when
both are over. What the operator had switched off stays off.
"""

from __future__ import annotations

from honeyguide.accounts import accounts, invitations, members
from honeyguide.accounts.accounts import Account
from honeyguide.events import change_log
from honeyguide.kernel import clock
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.mail import account_life_texts, email_kinds
from honeyguide.partners import program_stops
from honeyguide.signups import undone_stops
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers import campaigns
from honeyguide.subscribers.campaigns import LINKS

# How long before the end the owners get an email, which waits among the emails from the moment
# that the day is known.
REMINDER_MS = 3 * DAY_MS

_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_POSTPONE = _sql.command("postpone")
_SET = _sql.command("set")
_REMEMBER = _sql.command("remember")
_SWITCH_OFF = _sql.command("switch_off")
_SWITCH_ON_AGAIN = _sql.command("switch_on_again")
_FORGET = _sql.command("forget")


async def lock(change: Change) -> Account:
    """The account, which nobody else can pause, resume or close meanwhile."""
    await change.lock(_LOCK)
    return await accounts.get(change.tx, change.tenant.account_id)


async def pause(change: Change) -> None:
    account = await lock(change)
    if account.is_admin:
        raise Invalid("The account that runs this installation cannot be paused.")
    if account.closed_ms is not None:
        raise Invalid("This account is closed already.")
    if account.paused_ms is not None:
        raise Invalid("This account is paused already.")
    await change.run(_SET, paused_ms=change.now_ms)
    await switch_programs_off(change)
    await invitations.end_all(change)
    await _follow(change, "account.paused")
    if account.closes_ms is not None:
        await withdraw_reminder(change, account.closes_ms)
    message = account_life_texts.paused(
        newsletter=await campaigns.name_of(change), is_closing=account.closes_ms is not None
    )
    await members.email_owners(change, email_kinds.ACCOUNT_PAUSED, message)


async def resume(change: Change) -> None:
    account = await lock(change)
    if account.paused_ms is None:
        raise Invalid("This account is not paused.")
    await change.run(_SET, paused_ms=None)
    await switch_programs_on_again(change, account._replace(paused_ms=None))
    closes_ms = await _go_on_closing(change, account.closes_ms)
    await _follow(change, "account.resumed")
    message = account_life_texts.resumed(
        newsletter=await campaigns.name_of(change),
        closes_on=clock.short_day(closes_ms) if closes_ms is not None else None,
        link=closing_page(change) if closes_ms else f"{change.site.base_url}/",
    )
    await members.email_owners(change, email_kinds.ACCOUNT_RESUMED, message)


async def _go_on_closing(change: Change, closes_ms: int | None) -> int | None:
    """Whoever could not keep the account meanwhile has three days to do so."""
    if closes_ms is None:
        return None
    postponed_ms = max(closes_ms, change.now_ms + REMINDER_MS)
    if postponed_ms > closes_ms:
        await change.run(_POSTPONE, closes_ms=postponed_ms)
        before, after = ({"closes_at": clock.iso(at)} for at in (closes_ms, postponed_ms))
        await change_log.record(
            change, "account.closing_postponed", change.tenant.account_id, before, after
        )
    else:
        await queue_reminder(change, closes_ms)
    return postponed_ms


async def _follow(change: Change, action: str) -> None:
    change.tx.wake(LINKS)  # signup pages say so at once
    await change_log.record(change, action, change.tenant.account_id)


def closing_page(change: Change) -> str:
    return f"{change.site.base_url}/account/close"


async def queue_reminder(change: Change, closes_ms: int) -> None:
    message = account_life_texts.closing_soon(
        newsletter=await campaigns.name_of(change),
        day=clock.short_day(closes_ms),
        link=closing_page(change),
    )
    await members.email_owners(
        change,
        email_kinds.ACCOUNT_CLOSING,
        message,
        once=_once(closes_ms),
        delay_ms=closes_ms - REMINDER_MS - change.now_ms,
    )


async def withdraw_reminder(change: Change, closes_ms: int) -> None:
    await members.withdraw_from_owners(change, _once(closes_ms))


def _once(closes_ms: int) -> str:
    return f"closing_soon:{closes_ms}"


async def switch_programs_off(change: Change) -> None:
    before = await program_stops.states(change)
    await change.run(_REMEMBER)
    await change.run(_SWITCH_OFF)
    await program_stops.follow(change, before)


async def switch_programs_on_again(change: Change, account: Account) -> None:
    """`account` as it is after the change."""
    if account.paused_ms is None and account.closes_ms is None:
        before = await program_stops.states(change)
        await change.run(_SWITCH_ON_AGAIN)
        await change.run(_FORGET)
        await program_stops.follow(change, before)
        await undone_stops.of_programs(change)
