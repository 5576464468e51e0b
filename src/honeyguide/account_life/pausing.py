"""Pausing an account, by an administrator. Its members can read everything and change nothing,
nobody can sign up, and nothing goes out: no emails to subscribers, no webhooks, no syncs, no fees.
What was due waits until the account is resumed.
"""

from __future__ import annotations

from honeyguide.account_life import owner_emails, program_switches
from honeyguide.accounts import accounts, invitations
from honeyguide.accounts.accounts import Account
from honeyguide.events import change_log
from honeyguide.kernel.errors import Invalid
from honeyguide.mail import account_life_texts, email_kinds
from honeyguide.referrals.campaigns import LINKS
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_SET = _sql.command("set")


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
    await program_switches.switch_off(change)
    await invitations.end_all(change)
    await _follow(change, "account.paused")
    message = account_life_texts.paused(newsletter=await owner_emails.newsletter(change))
    await owner_emails.send(change, email_kinds.ACCOUNT_PAUSED, message)


async def resume(change: Change) -> None:
    account = await lock(change)
    if account.paused_ms is None:
        raise Invalid("This account is not paused.")
    await change.run(_SET, paused_ms=None)
    await program_switches.switch_on_again(change, account._replace(paused_ms=None))
    await _follow(change, "account.resumed")
    message = account_life_texts.resumed(
        newsletter=await owner_emails.newsletter(change), link=f"{change.site.base_url}/"
    )
    await owner_emails.send(change, email_kinds.ACCOUNT_RESUMED, message)


async def _follow(change: Change, action: str) -> None:
    change.tx.wake(LINKS)  # signup pages say so at once
    await change_log.record(change, action, change.tenant.account_id)
