"""Emails to every owner of an account about what becomes of it."""

from __future__ import annotations

from honeyguide.accounts import members
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.mail import account_emails, emails
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.store.change import Change
from honeyguide.subscribers import campaigns


async def newsletter(change: Change) -> str:
    return (await campaigns.get(change)).name


async def send(
    change: Change, kind: EmailKind, message: EmailText, *, once: str = "", delay_ms: int = 0
) -> None:
    """With `once`, only the first time for each owner."""
    account_id = change.tenant.account_id
    for member in await members.of_account(change.tx, account_id, now_ms=change.now_ms):
        if member.role == Role.OWNER:
            await account_emails.send(
                change.tx,
                account_id,
                EmailAddress.parse(member.email),
                kind,
                message,
                once=f"{once}:{member.user_id}" if once else None,
                delay_ms=delay_ms,
                now_ms=change.now_ms,
            )


async def withdraw(change: Change, once: str) -> None:
    """What was to be sent later."""
    account_id = change.tenant.account_id
    for member in await members.of_account(change.tx, account_id, now_ms=change.now_ms):
        await emails.withdraw(change.tx, account_id, f"{once}:{member.user_id}")
