"""Closing an account. An owner asks for it, and can keep the account for another two weeks; then a
job closes it for good, in small steps that can be interrupted and done again. While an
administrator pauses the account, that waits.

From the first moment its programs are off and nobody can sign up. Records of money stay: ledger,
statements, payouts, and the change log as long as it is kept for everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.account_life import pausing
from honeyguide.accounts import invitations, keys, members
from honeyguide.accounts.accounts import Account
from honeyguide.events import change_log, webhooks
from honeyguide.integrations import disconnecting
from honeyguide.kernel import clock
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import account_life_texts, email_kinds, slack_messages
from honeyguide.partners import network, publications
from honeyguide.signups import signups
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns, link_hosts
from honeyguide.subscribers.campaigns import LINKS
from honeyguide.subscribers.reasons import DEADLINE_DAYS

WAIT_DAYS = 14
# Subscribers erased in one transaction.
BATCH = 20
YEAR_MS = 365 * DAY_MS + DAY_MS // 4
# The job.
CLOSING = "close accounts"
# More of a kind are not counted.
MOST_COUNTED = 1_000


class ClosingAccount(NamedTuple):
    id: str
    """Of the account."""
    campaign_id: str
    closed_ms: int | None

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.id, self.campaign_id)


class PendingThings(NamedTuple):
    rewards: int
    """Earned, and neither claimed nor given yet."""
    shipments: int
    """Claimed, and not sent yet."""
    referrals: int
    """In their holding period, brought by subscribers."""
    paid_referrals: int
    """The same, brought by partners."""
    unpaid_payouts: int
    unpaid_cents: int
    """Of closed months, to this account."""
    fees_cents: int
    """That this account owes partners for open months, so far."""
    earned_cents: int
    """That partner programs owe this account for open months, so far."""

    @property
    def is_nothing(self) -> bool:
        return not any(self)


_sql = beside(__file__)
_OWED = _sql.query("owed", PendingThings)
_SET = _sql.command("set")
_DUE = _sql.query("due", ClosingAccount)
_BY_ID = _sql.query("by_id", ClosingAccount)
_TO_ERASE = _sql.value("to_erase", str)
_NEVER_CONFIRMED = _sql.value("never_confirmed", str)
_HAS_PENDING = _sql.value("has_pending", int)
_SET_EMPTIED = _sql.command("set_emptied")
_EXPIRED = _sql.value("expired", str)
_FORGET = _sql.command("forget")
_FORGET_EMAILS = _sql.command("forget_emails")
_FORGET_NOTICES = _sql.command("forget_notices")


_JOINED = _sql.value("joined", str)
_PUBLICATIONS = _sql.value("publications", str)
_WEBHOOKS = _sql.query("webhooks", lambda id, scope: (id, scope))
_KEYS = _sql.value("keys", str)
_HAS_INTEGRATION = _sql.value("has_integration", int)
_DELETE_TICKETS = _sql.command("delete_tickets")
_STOP_FETCHES = _sql.command("stop_fetches")
_STOP_IMPORTS = _sql.command("stop_imports")
_SET_CLOSED = _sql.command("set_closed")


async def ask(change: Change) -> int:
    """Begins the waiting period. Returns when it ends."""
    account = await pausing.lock(change)
    if account.is_admin:
        raise Invalid("The account that runs this installation cannot be closed.")
    if account.closes_ms is not None:
        raise Invalid("This account is being closed already.")
    closes_ms = change.now_ms + WAIT_DAYS * DAY_MS
    await change.run(_SET, closes_ms=closes_ms)
    await pausing.switch_programs_off(change)
    await invitations.end_all(change)
    change.tx.wake(LINKS)
    after = {"closes_at": clock.iso(closes_ms)}
    await change_log.record(change, "account.closing", account.id, {"closes_at": None}, after)
    message = account_life_texts.closing(
        newsletter=await campaigns.name_of(change),
        day=clock.short_day(closes_ms),
        link=pausing.closing_page(change),
    )
    await members.email_owners(change, email_kinds.ACCOUNT_CLOSING, message)
    if account.paused_ms is None:
        await pausing.queue_reminder(change, closes_ms)
    return closes_ms


async def keep(change: Change) -> None:
    """The account goes on as before."""
    account = await pausing.lock(change)
    if account.closes_ms is None:
        raise Invalid("This account is not being closed.")
    is_over = account.closes_ms <= change.now_ms and account.paused_ms is None
    if account.closed_ms is not None or is_over:
        raise Invalid("The waiting period is over, and the account is being closed.")
    await call_off(change, account)


async def call_off(change: Change, account: Account) -> None:
    """`account` is locked, and is being closed."""
    assert account.closes_ms is not None
    await change.run(_SET, closes_ms=None)
    await pausing.switch_programs_on_again(change, account._replace(closes_ms=None))
    change.tx.wake(LINKS)
    before = {"closes_at": clock.iso(account.closes_ms)}
    await change_log.record(change, "account.kept", account.id, before, {"closes_at": None})
    await pausing.withdraw_reminder(change, account.closes_ms)
    newsletter = await campaigns.name_of(change)
    message = account_life_texts.kept(newsletter=newsletter, link=f"{change.site.base_url}/")
    await members.email_owners(change, email_kinds.ACCOUNT_KEPT, message)


async def end_waiting_period(change: Change, closes_ms: int) -> None:
    """For an account that was closed already in the database that a backup replaces."""
    await pausing.lock(change)
    await pausing.switch_programs_off(change)
    await change.run(_SET, closes_ms=closes_ms)


async def due(tx: Tx, *, most: int) -> list[ClosingAccount]:
    """Whose waiting period is over, and which are not empty yet."""
    return await tx.all(_DUE, most=most)


async def close_some(tx: Tx, site: Site, actor: Actor, account_id: str) -> bool:
    """One step of closing this account. Tells whether there is more to do now."""
    account = await tx.one(_BY_ID, account_id=account_id)
    if account is None:  # kept or paused, or another process was faster
        return False
    change = Change(tx, site, account.tenant, actor, tx.now_ms)
    if account.closed_ms is None:
        locked = await pausing.lock(change)
        if await tx.one(_BY_ID, account_id=account_id) != account:
            return False
        if await shut_some(change):
            return True
        await _close(change, locked.closes_ms or 0)
        return True
    return await _erase_some(change)


async def _close(change: Change, closes_ms: int) -> None:
    """All is shut; the members go last, because owners get an email."""
    await pausing.withdraw_reminder(change, closes_ms)  # the mail server may have been down
    message = account_life_texts.closed(newsletter=await campaigns.name_of(change))
    await members.email_owners(change, email_kinds.ACCOUNT_CLOSED, message)
    await remove_members(change)
    await change_log.record(change, "account.closed", change.tenant.account_id)
    change.tx.wake(LINKS)


async def _erase_some(change: Change) -> bool:
    """Subscribers with a partner's pending referral stay until it is decided, as when a program is
    deleted: the partner earned the wait. Nobody is left to decide the others by hand, so what was
    not confirmed by the deadline is rejected."""
    late_ms = change.now_ms - DEADLINE_DAYS * DAY_MS
    for subscriber_id in await change.all(_NEVER_CONFIRMED, received_ms=late_ms, most=BATCH):
        await signups.reject_unconfirmed(change, subscriber_id)
    found: Sequence[str] = await change.all(_TO_ERASE, most=BATCH)
    for subscriber_id in found:
        await signups.erase(change, subscriber_id)
    if not found and not await change.one(_HAS_PENDING):
        await change.run(_SET_EMPTIED)
    return bool(found)


async def expired(tx: Tx, *, most: int, keep_years: int) -> list[str]:
    """Closed accounts whose records are no longer kept."""
    return await tx.all(_EXPIRED, before_ms=tx.now_ms - keep_years * YEAR_MS, most=most)


async def forget(tx: Tx, account_id: str) -> None:
    """Deletes the name and address of the account and all its emails. The ledger's rows stay, with
    nobody's name: the figures of its partners rest on them."""
    await tx.run(_FORGET_EMAILS, account_id=account_id)
    await tx.run(_FORGET_NOTICES, account_id=account_id)
    await tx.run(_FORGET, account_id=account_id)
    tx.scrub()


async def owed(at: Reading) -> PendingThings:
    """What is pending in an account and owed by or to it, for whoever is about to close it."""
    counts = await at.one(_OWED, most=MOST_COUNTED)
    assert counts is not None
    return counts


async def shut_some(change: Change) -> bool:
    """Ends some of it. Tells whether anything was left to end."""
    joined = await change.all(_JOINED, most=BATCH)
    for campaign_id in joined:
        await network.leave(change, campaign_id)
    published = await change.all(_PUBLICATIONS, most=BATCH)
    for publication_id in published:
        await publications.delete(change, publication_id)
    hooks = await change.all(_WEBHOOKS, most=BATCH)
    for webhook_id, scope in hooks:
        await webhooks.delete(change, scope, webhook_id)
    working = await change.all(_KEYS, most=BATCH)
    for key_id in working:
        await keys.revoke(change, key_id)
    hosts = await link_hosts.of_account(change)
    for host in hosts:
        await link_hosts.remove(change, host.id)
    connected = await change.one(_HAS_INTEGRATION)
    if connected:
        await disconnecting.disconnect(change)
    return bool(joined or published or hooks or working or hosts or connected)


async def remove_members(change: Change) -> None:
    """The last step: nobody can get in any more."""
    await change.run(_DELETE_TICKETS)
    await change.run(_STOP_FETCHES)
    await change.run(_STOP_IMPORTS)
    await slack_messages.delete_webhook(change)
    await members.remove_all(change)
    await change.run(_SET_CLOSED)
