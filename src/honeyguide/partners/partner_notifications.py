"""Notifications to a program's owner and a partner about each other: that the partner joined or
left, was removed or is allowed again. Nobody is notified of what they did in their own program.

A notification that a partner left or was removed is sent a minute later. If it is undone before
that, nobody is notified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import notifications, partner_texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import PARTNER_ALLOWED, PARTNER_REMOVED, EmailKind
from honeyguide.mail.notifications import WITHDRAWAL_MS, Notification
from honeyguide.partners import partner_emails
from honeyguide.store.change import Change

_SOMEBODY = "A partner"


class InProgram(Protocol):
    """One partner in one program, as either side sees it."""

    @property
    def id(self) -> str: ...
    @property
    def account_id(self) -> str: ...
    @property
    def owner_account_id(self) -> str: ...
    @property
    def program_id(self) -> str: ...
    @property
    def publication_name(self) -> str: ...
    @property
    def logo_id(self) -> str: ...


async def joined(change: Change, partner: InProgram, *, left_ms: int | None) -> None:
    """The owner hears at most once a day of somebody who leaves and joins again."""
    once = f"partner_joined:{partner.id}"
    if left_ms is not None:
        once += f":{change.now_ms // DAY_MS}"
        if await _withdraw(change, partner.owner_account_id, _left_once(partner, left_ms)):
            return
    await _notify_owner(change, partner, "partner_joined", partner_texts.partner_joined, once)


async def left(change: Change, partner: InProgram) -> None:
    once = _left_once(partner, change.now_ms)
    await _notify_owner(
        change, partner, "partner_left", partner_texts.partner_left, once, delay_ms=WITHDRAWAL_MS
    )


def _left_once(partner: InProgram, left_ms: int) -> str:
    return f"partner_left:{partner.id}:{left_ms // DAY_MS}"


async def removed(
    change: Change, partner: InProgram, reason: str | None, *, pending_ended: bool
) -> None:
    message = partner_texts.partner_removed(
        program=partner.publication_name,
        reason=reason,
        pending=_pending(ended=pending_ended),
        page=_page(change, partner),
    )
    once = _removed_once(partner, change.now_ms)
    await _notify_partner(change, partner, PARTNER_REMOVED, once, message, delay_ms=WITHDRAWAL_MS)


def _removed_once(partner: InProgram, removed_ms: int) -> str:
    return f"partner_removed:{partner.id}:{removed_ms}"


async def blocked(
    change: Change, partner: InProgram, reason: str | None, *, pending_ended: bool
) -> None:
    message = partner_texts.partner_blocked(
        owner=await _owner_name(change, partner),
        reason=reason,
        pending=_pending(ended=pending_ended),
        page=_page(change, partner),
    )
    once = _blocked_once(partner, change.now_ms)
    await _notify_partner(change, partner, PARTNER_REMOVED, once, message, delay_ms=WITHDRAWAL_MS)


def _blocked_once(partner: InProgram, blocked_ms: int) -> str:
    # Whichever of the partner's campaigns it began with, another may be the one that ends it.
    return f"partner_blocked:{partner.owner_account_id}:{blocked_ms}"


async def allowed(
    change: Change,
    partner: InProgram,
    *,
    removed_ms: int,
    counts_again: bool,
    is_undone: bool,
) -> None:
    """`is_undone` if nothing else keeps new referrals from counting: else the partner hears of the
    removal, or a chain of stops would hide each of them."""
    if is_undone and await _withdraw(
        change, partner.account_id, _removed_once(partner, removed_ms)
    ):
        return
    message = partner_texts.partner_allowed(
        program=partner.publication_name,
        now=partner_texts.COUNTS_AGAIN if counts_again else partner_texts.CAN_JOIN_AGAIN,
        page=_page(change, partner),
    )
    once = f"partner_allowed:{partner.id}:{change.now_ms}"
    await _notify_partner(change, partner, PARTNER_ALLOWED, once, message)


async def unblocked(
    change: Change, partner: InProgram, *, blocked_ms: int, is_undone: bool
) -> None:
    if is_undone and await _withdraw(
        change, partner.account_id, _blocked_once(partner, blocked_ms)
    ):
        return
    message = partner_texts.partner_unblocked(
        owner=await _owner_name(change, partner), page=f"{change.site.base_url}/earnings"
    )
    once = f"partner_unblocked:{partner.owner_account_id}:{change.now_ms}"
    await _notify_partner(change, partner, PARTNER_ALLOWED, once, message)


def _pending(*, ended: bool) -> str:
    return partner_texts.PENDING_ENDED if ended else partner_texts.PENDING_FINISH


async def _owner_name(change: Change, partner: InProgram) -> str:
    owner = await accounts.get(change.tx, partner.owner_account_id)
    return owner.name or partner.publication_name


def _page(change: Change, partner: InProgram) -> str:
    return f"{change.site.base_url}/earnings/{partner.id}"


async def _withdraw(change: Change, account_id: str, once: str) -> bool:
    return await notifications.withdraw(change.tx, account_id, once)


async def _notify_owner(
    change: Change,
    partner: InProgram,
    kind: str,
    write_text: Callable[..., EmailText],
    once: str,
    *,
    delay_ms: int = 0,
) -> None:
    if partner.account_id == partner.owner_account_id:
        return
    account = await accounts.get(change.tx, partner.account_id)
    owner = await accounts.get(change.tx, partner.owner_account_id)
    link = f"/program/{partner.program_id}"
    message = write_text(
        partner=account.name or _SOMEBODY,
        program=partner.publication_name,
        page=f"{change.site.base_url}{link}",
    )
    notification = Notification(owner.id, owner.email, kind, once, message, link)
    notification = notification._replace(delay_ms=delay_ms)
    await notifications.notify(change.tx, change.site.base_url, notification)


async def _notify_partner(
    change: Change,
    partner: InProgram,
    kind: EmailKind,
    once: str,
    message: EmailText,
    *,
    delay_ms: int = 0,
) -> None:
    if partner.account_id == partner.owner_account_id:
        return
    account = await accounts.get(change.tx, partner.account_id)
    brand = await partner_emails.branding_of(
        change.of_account(partner.owner_account_id),
        partner.publication_name,
        partner.logo_id,
    )
    notification = Notification(
        account_id=account.id,
        to=account.email,
        kind=kind.name,
        once=once,
        message=message,
        link=f"/earnings/{partner.id}",
        brand=brand,
        delay_ms=delay_ms,
    )
    await notifications.notify(change.tx, change.site.base_url, notification)
