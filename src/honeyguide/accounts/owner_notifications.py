"""Notifies the operator of what followed from a change to their campaign."""

from __future__ import annotations

from honeyguide.accounts import accounts
from honeyguide.accounts.accounts import Account
from honeyguide.mail import notifications
from honeyguide.mail.content import EmailText
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading


async def _owner(at: Reading) -> Account:
    return await accounts.get(at.tx, at.tenant.account_id)


async def notify(change: Change, kind: str, cause: str, message: EmailText, *, link: str) -> None:
    """Once for each cause of this kind."""
    account = await change.fact(_owner)
    await notifications.notify(
        change.tx,
        account.id,
        account.email,
        kind,
        f"{kind}:{cause}",
        message,
        link=link,
        base_url=change.site.base_url,
        now_ms=change.now_ms,
    )
