"""Links in emails that work once: to choose a new password and to create an account. Only their
digests are stored.

Whoever asks for an email learns nothing about who has an account: the response is the same, and so
is the work before it.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from honeyguide.accounts import accounts, passwords
from honeyguide.events import change_log
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import account_emails, email_kinds, texts
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

RESET_MS = HOUR_MS
INVITATION_MS = 7 * DAY_MS
PURGE_BATCH = 500
# The account of emails to people who have no account yet.
INSTALLATION = ""
SPENT = "This link has already been used or has expired. Request a new one."


class Ticket(NamedTuple):
    id: str
    kind: str
    account_id: str | None
    email: str | None
    as_partner: int
    created_ms: int
    expires_ms: int


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_FIND = _sql.query("find", Ticket)
_USE = _sql.command("use")
_OF_INVITER = _sql.query("of_inviter", Ticket)
_WITHDRAW = _sql.command("withdraw")
_ANY_ACCOUNT = _sql.value("any_account", str)
_EXPIRED = _sql.value("expired", str)
_PURGE = _sql.command("purge")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def is_untouched(tx: Tx) -> bool:
    """No account exists yet. The first one becomes the administrator."""
    return await tx.one(_ANY_ACCOUNT) is None


async def _issue(
    tx: Tx,
    kind: str,
    *,
    account_id: str | None,
    email: str | None,
    as_partner: bool = False,
    lasts_ms: int,
    now_ms: int,
) -> tuple[str, str]:
    """The ticket's id and its token."""
    ticket_id, token = new_id(), secrets.token_urlsafe(32)
    await tx.put(
        _INSERT,
        id=ticket_id,
        digest=_digest(token),
        kind=kind,
        account_id=account_id,
        email=email,
        as_partner=int(as_partner),
        now_ms=now_ms,
        expires_ms=now_ms + lasts_ms,
    )
    return ticket_id, token


async def forgot_password(tx: Tx, site: Site, email: EmailAddress, *, now_ms: int) -> None:
    """Writes to the account, if there is one."""
    account = await accounts.find_by_email(tx, email)
    if account is None:
        return
    _, token = await _issue(
        tx, "password_reset", account_id=account.id, email=None, lasts_ms=RESET_MS, now_ms=now_ms
    )
    message = texts.password_reset(link=f"{site.base_url}/password/{token}", valid_for="1 hour")
    to = EmailAddress(account.email)
    await account_emails.send(
        tx, account.id, to, email_kinds.PASSWORD_RESET, message, now_ms=now_ms
    )


async def ask_to_join(tx: Tx, site: Site, email: EmailAddress, *, now_ms: int) -> None:
    """Handles a request for an account: emails a link to create it, or to log in if they have
    one."""
    account = await accounts.find_by_email(tx, email)
    if account is not None:
        kind = email_kinds.ACCOUNT_EXISTS
        message = texts.account_exists(
            login=f"{site.base_url}/login", forgot=f"{site.base_url}/password"
        )
    else:
        kind = email_kinds.OPEN_ACCOUNT
        _, token = await _issue(
            tx,
            "invitation",
            account_id=None,
            email=email.text,
            lasts_ms=INVITATION_MS,
            now_ms=now_ms,
        )
        message = texts.open_account(link=f"{site.base_url}/welcome/{token}", valid_for="7 days")
    account_id = account.id if account else INSTALLATION
    await account_emails.send(tx, account_id, email, kind, message, now_ms=now_ms)


async def invite(change: Change, email: EmailAddress, *, as_partner: bool = False) -> str:
    """Sends an invitation and gives its link, so that it can also be handed over by other means.
    A partner has no newsletter to set up here.
    """
    tx, now_ms = change.tx, change.now_ms
    inviter = await accounts.get(tx, change.tenant.account_id)
    ticket_id, token = await _issue(
        tx,
        "invitation",
        account_id=inviter.id,
        email=email.text,
        as_partner=as_partner,
        lasts_ms=INVITATION_MS,
        now_ms=now_ms,
    )
    link = f"{change.site.base_url}/welcome/{token}"
    message = texts.invitation(inviter=inviter.name or inviter.email, link=link, valid_for="7 days")
    await account_emails.send(tx, inviter.id, email, email_kinds.INVITATION, message, now_ms=now_ms)
    # Without the address: an invited person is nobody's subscriber, so no erasure would find it.
    sent = {"as_partner": as_partner}
    await change_log.record(change, "invitation.sent", ticket_id, None, sent)
    return link


async def find(tx: Tx, kind: str, token: str, *, now_ms: int) -> Ticket | None:
    return await tx.one(_FIND, digest=_digest(token), kind=kind, now_ms=now_ms)


async def _use(tx: Tx, kind: str, token: str, *, now_ms: int) -> Ticket:
    ticket = await find(tx, kind, token, now_ms=now_ms)
    if ticket is None or not await tx.run(_USE, digest=_digest(token), now_ms=now_ms):
        raise Missing(SPENT)
    return ticket


async def reset_password(tx: Tx, site: Site, token: str, password_hash: str, *, now_ms: int) -> str:
    """The account whose password was changed; all its sessions are over."""
    ticket = await _use(tx, "password_reset", token, now_ms=now_ms)
    if ticket.account_id is None:
        raise Missing(SPENT)
    # A password belongs to the account, so no campaign is meant.
    tenant = Tenant(ticket.account_id, "")
    change = Change(tx, site, tenant, actors.member(ticket.account_id), now_ms)
    await passwords.change_hash(change, password_hash)
    return ticket.account_id


async def accept(tx: Tx, token: str, *, name: str, password_hash: str, now_ms: int) -> str:
    """Opens the account that the invitation was for."""
    ticket = await _use(tx, "invitation", token, now_ms=now_ms)
    if ticket.email is None:
        raise Missing(SPENT)
    account_id = await open_account(
        tx, EmailAddress(ticket.email), name=name, password_hash=password_hash, now_ms=now_ms
    )
    if ticket.as_partner:
        await accounts.dismiss_checklist(tx, account_id, now_ms=now_ms)
    return account_id


async def open_first_account(
    tx: Tx, email: EmailAddress, *, name: str, password_hash: str, now_ms: int
) -> str:
    """The administrator's account, if there is no account yet. Of two at the same moment, the
    second is refused."""
    if await is_untouched(tx):
        account_id = await open_account(
            tx, email, name=name, password_hash=password_hash, now_ms=now_ms
        )
        if (await accounts.get(tx, account_id)).is_admin:
            return account_id
    raise Missing("There is an administrator already.")


async def open_account(
    tx: Tx, email: EmailAddress, *, name: str, password_hash: str, now_ms: int
) -> str:
    made = await accounts.create(tx, email, name=name, now_ms=now_ms)
    await passwords.set_hash(tx, made.account_id, password_hash)
    return made.account_id


async def of_inviter(tx: Tx, account_id: str, *, now_ms: int) -> list[Ticket]:
    """Invitations that still wait, newest first."""
    return await tx.all(_OF_INVITER, account_id=account_id, now_ms=now_ms)


async def withdraw(change: Change, ticket_id: str) -> None:
    if not await change.run(_WITHDRAW, id=ticket_id):
        raise Missing("There is no such invitation, or it has been accepted.")
    await change_log.record(change, "invitation.withdrawn", ticket_id)


purge = Purge(_EXPIRED, _PURGE, lambda now_ms: {"now_ms": now_ms}, batch=PURGE_BATCH)
