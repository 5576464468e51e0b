"""What a program's owner and a partner are told about each other: that the partner joined or left,
was removed or is allowed again. Nobody is told what they did in their own program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import notifications, partner_texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import PARTNER_ALLOWED, PARTNER_REMOVED, EmailKind
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


async def joined(change: Change, partner: InProgram, *, is_first: bool) -> None:
    """The owner hears at most once a day of somebody who leaves and joins again."""
    once = "" if is_first else f":{change.now_ms // DAY_MS}"
    await _notify_owner(change, partner, "partner_joined", partner_texts.partner_joined, once)


async def left(change: Change, partner: InProgram) -> None:
    once = f":{change.now_ms // DAY_MS}"
    await _notify_owner(change, partner, "partner_left", partner_texts.partner_left, once)


async def removed(
    change: Change, partner: InProgram, reason: str | None, *, pending_ended: bool
) -> None:
    message = partner_texts.partner_removed(
        program=partner.publication_name,
        reason=reason,
        pending=_pending(ended=pending_ended),
        page=_page(change, partner),
    )
    await _notify_partner(change, partner, PARTNER_REMOVED, message)


async def blocked(
    change: Change, partner: InProgram, reason: str | None, *, pending_ended: bool
) -> None:
    message = partner_texts.partner_blocked(
        owner=await _owner_name(change, partner),
        reason=reason,
        pending=_pending(ended=pending_ended),
        page=_page(change, partner),
    )
    await _notify_partner(change, partner, PARTNER_REMOVED, message)


async def allowed(change: Change, partner: InProgram, *, counts_again: bool) -> None:
    message = partner_texts.partner_allowed(
        program=partner.publication_name,
        now=partner_texts.COUNTS_AGAIN if counts_again else partner_texts.CAN_JOIN_AGAIN,
        page=_page(change, partner),
    )
    await _notify_partner(change, partner, PARTNER_ALLOWED, message)


async def unblocked(change: Change, partner: InProgram) -> None:
    message = partner_texts.partner_unblocked(
        owner=await _owner_name(change, partner), page=f"{change.site.base_url}/earnings"
    )
    await _notify_partner(change, partner, PARTNER_ALLOWED, message)


def _pending(*, ended: bool) -> str:
    return partner_texts.PENDING_ENDED if ended else partner_texts.PENDING_FINISH


async def _owner_name(change: Change, partner: InProgram) -> str:
    owner = await accounts.get(change.tx, partner.owner_account_id)
    return owner.name or partner.publication_name


def _page(change: Change, partner: InProgram) -> str:
    return f"{change.site.base_url}/earnings/{partner.id}"


async def _notify_owner(
    change: Change,
    partner: InProgram,
    kind: str,
    write_text: Callable[..., EmailText],
    once: str,
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
    await notifications.notify(
        change.tx,
        owner.id,
        owner.email,
        kind,
        f"{kind}:{partner.id}{once}",
        message,
        link=link,
        base_url=change.site.base_url,
        now_ms=change.now_ms,
    )


async def _notify_partner(
    change: Change, partner: InProgram, kind: EmailKind, message: EmailText
) -> None:
    if partner.account_id == partner.owner_account_id:
        return
    account = await accounts.get(change.tx, partner.account_id)
    brand = await partner_emails.branding_of(
        change.tx,
        change.site,
        partner.owner_account_id,
        partner.publication_name,
        partner.logo_id,
    )
    await notifications.notify(
        change.tx,
        account.id,
        account.email,
        kind.name,
        f"{kind.name}:{partner.id}:{change.now_ms}",
        message,
        link=f"/earnings/{partner.id}",
        base_url=change.site.base_url,
        brand=brand,
        now_ms=change.now_ms,
    )
