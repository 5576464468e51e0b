"""Links in emails that work once: to choose a new password, to create an account and to become a
member of one. Only their digests are stored.

Whoever asks for an email learns nothing about who has an account: the response is the same, and so
is the work before it.
"""

from __future__ import annotations

import hashlib
import secrets
from enum import StrEnum
from typing import Any, NamedTuple

from honeyguide.accounts import accounts, attempts, email_proofs, members, passwords, users
from honeyguide.accounts.accounts import Account
from honeyguide.accounts.attempts import Limit
from honeyguide.accounts.permissions import Role
from honeyguide.events import change_log
from honeyguide.kernel import actors, checks
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Forbidden, Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import email_kinds, emails, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.emails import EmailToSend
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

RESET_MS = HOUR_MS
INVITATION_MS = 7 * DAY_MS
PURGE_BATCH = 500
SENT_ENOUGH = "This account has sent as many invitations as it may in a day. Send more tomorrow."
INVITATIONS_BY_DAY = Limit("invitations by account", 20, DAY_MS, SENT_ENOUGH)
# The administrators invite whoever gets an account of their own.
ADMIN_INVITATIONS_BY_DAY = INVITATIONS_BY_DAY._replace(most=200)
TOO_MANY_OPEN = "{most} invitations are waiting, which is the most. Withdraw some of them first."
SPENT = "This link has already been used or has expired. Request a new one."


class Ticket(NamedTuple):
    id: str
    kind: str
    account_id: str | None
    user_id: str | None
    email: str | None
    as_partner: bool
    role: str | None
    """Of somebody who is invited into the account; None for an account of their own."""
    created_ms: int
    expires_ms: int

    @property
    def was_shown(self) -> bool:
        """To whoever invited. Others asked for it themselves, and it was only emailed."""
        return self.account_id is not None


class Opened(NamedTuple):
    user_id: str
    account_id: str


class NewTicket(NamedTuple):
    kind: str
    account_id: str | None = None
    user_id: str | None = None
    email: str | None = None
    as_partner: bool = False
    role: Role | None = None
    inviter_id: str | None = None


class LinkTo(StrEnum):
    PASSWORD = "password"
    ACCOUNT = "account"


class _LinkRequest(NamedTuple):
    kind: LinkTo
    email: str


_sql = beside(__file__)
_REQUEST = _sql.command("request")
_REQUESTED = _sql.value("requested", str)
_TAKE_REQUEST = _sql.query("take_request", _LinkRequest)
_INSERT = _sql.command("insert")
_FIND = _sql.query("find", Ticket)
_USE = _sql.command("use")
_OF_INVITER = _sql.query("of_inviter", Ticket)
_COUNT_OPEN = _sql.value("count_open", int)
_END_ALL = _sql.command("end_all")
_WITHDRAW = _sql.command("withdraw")
_ANY_ACCOUNT = _sql.value("any_account", str)
_EXPIRED = _sql.value("expired", str)
_PURGE = _sql.command("purge")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def is_untouched(tx: Tx) -> bool:
    """No account exists yet. The first one becomes the administrator."""
    return await tx.one(_ANY_ACCOUNT) is None


async def _issue(tx: Tx, new: NewTicket) -> tuple[str, str]:
    """The ticket's id and its token."""
    ticket_id, token = new_id(), secrets.token_urlsafe(32)
    lasts_ms = RESET_MS if new.kind == "password_reset" else INVITATION_MS
    await tx.put(
        _INSERT,
        id=ticket_id,
        digest=_digest(token),
        **new._asdict(),
        expires_ms=tx.now_ms + lasts_ms,
    )
    return ticket_id, token


async def forgot_password(tx: Tx, site: Site, email: EmailAddress) -> None:
    """Writes to the user, if there is one."""
    user = await users.find_by_email(tx, email)
    if user is None:
        return
    _, token = await _issue(tx, NewTicket("password_reset", user_id=user.id))
    message = texts.password_reset(link=f"{site.base_url}/password/{token}", valid_for="1 hour")
    to = EmailAddress(user.email)
    sender = await members.sender_for(tx, user.id)
    reset = EmailToSend(sender, to, email_kinds.PASSWORD_RESET, message)
    await emails.send(tx, reset)


async def ask_to_join(tx: Tx, site: Site, email: EmailAddress) -> None:
    """Handles a request for an account: emails a link to create it, or to log in if they have
    one."""
    user = await users.find_by_email(tx, email)
    if user is not None:
        kind = email_kinds.ACCOUNT_EXISTS
        message = texts.account_exists(
            login=f"{site.base_url}/login", forgot=f"{site.base_url}/password"
        )
    else:
        kind = email_kinds.OPEN_ACCOUNT
        _, token = await _issue(tx, NewTicket("invitation", email=email.text))
        message = texts.open_account(link=f"{site.base_url}/welcome/{token}", valid_for="7 days")
    account_id = await members.sender_for(tx, user.id) if user else members.INSTALLATION
    await emails.send(tx, EmailToSend(account_id, email, kind, message))


async def request_link(tx: Tx, kind: LinkTo, email: EmailAddress) -> None:
    """A form only notes requests for a link by email, so its answer takes as long for an address
    that nobody logs in with as for any other."""
    await tx.put(_REQUEST, id=new_id(), kind=kind, email=email.text, created_ms=tx.now_ms)
    tx.wake(emails.TOPIC)


async def requested_links(tx: Tx, *, most: int) -> list[str]:
    return await tx.all(_REQUESTED, most=most)


async def answer_request(tx: Tx, site: Site, request_id: str) -> None:
    found = await tx.one(_TAKE_REQUEST, id=request_id)
    if found is None:
        return
    send = {LinkTo.PASSWORD: forgot_password, LinkTo.ACCOUNT: ask_to_join}
    await send[found.kind](tx, site, EmailAddress(found.email))


async def invite(change: Change, email: EmailAddress, *, as_partner: bool = False) -> str:
    """Sends an invitation and gives its link, so that it can also be handed over by other means.
    A partner has no newsletter to set up here.
    """
    account = await _admit(change)
    link = await _issue_invitation(change, email, {"as_partner": as_partner})
    message = texts.invitation(inviter=_sender_name(account), link=link, valid_for="7 days")
    await _send(change, email, email_kinds.INVITATION, message)
    return link


async def invite_member(change: Change, email: EmailAddress, role: Role) -> str:
    """Sends an invitation into the account and gives its link."""
    account = await _admit(change)
    user = await users.find_by_email(change.tx, email)
    if user is not None and await members.role_of(change.tx, account.id, user.id) is not None:
        raise Invalid(members.ALREADY_IN, param="email")
    link = await _issue_invitation(change, email, {"role": role})
    message = texts.member_invitation(
        account=_sender_name(account), role=role, link=link, valid_for="7 days"
    )
    await _send(change, email, email_kinds.MEMBER_INVITATION, message)
    return link


async def _admit(change: Change) -> Account:
    """The account, if whoever makes the change may send one more invitation from it. Strangers get
    these emails from the installation's address, so they are few."""
    await members.lock_owners(change)
    account = await accounts.get(change.tx, change.tenant.account_id)
    _refuse_if_stopped(account)
    limit = ADMIN_INVITATIONS_BY_DAY if account.is_admin else INVITATIONS_BY_DAY
    await attempts.count(change.tx, change.site, limit, account.id)
    most_open = 2 * limit.most
    if (await change.one(_COUNT_OPEN) or 0) >= most_open:
        raise Invalid(TOO_MANY_OPEN, param="email", most=most_open)
    return account


def _refuse_if_stopped(account: Account) -> None:
    if account.paused_ms is not None:
        raise Forbidden("This account is paused, so nobody can join it.")
    if account.closes_ms is not None:
        raise Forbidden("This account is being closed, so nobody can join it.")


def _sender_name(account: Account) -> str:
    """A name that mail programs could show as a link is not put into an email to a stranger."""
    is_plain = account.name and not checks.may_be_linked(account.name)
    return account.name if account.name and is_plain else account.email


async def _issue_invitation(change: Change, email: EmailAddress, what: dict[str, Any]) -> str:
    """The link. `what` it is for goes into the log without the address: an invited person is
    nobody's subscriber, so no erasure would find it."""
    new = NewTicket(
        "invitation",
        account_id=change.tenant.account_id,
        email=email.text,
        inviter_id=change.actor.id if change.actor.kind is ActorKind.MEMBER else None,
        **what,
    )
    ticket_id, token = await _issue(change.tx, new)
    await change_log.record(change, "invitation.sent", ticket_id, None, what)
    return f"{change.site.base_url}/welcome/{token}"


async def _send(change: Change, to: EmailAddress, kind: EmailKind, message: EmailText) -> None:
    email = EmailToSend(change.tenant.account_id, to, kind, message)
    await emails.send(change.tx, email)


async def end_all(change: Change) -> None:
    """For an account that is paused or begins to close: nobody joins it."""
    await change.run(_END_ALL)


async def find(tx: Tx, kind: str, token: str) -> Ticket | None:
    return await tx.one(_FIND, digest=_digest(token), kind=kind)


async def _use(tx: Tx, kind: str, token: str) -> Ticket:
    ticket = await find(tx, kind, token)
    if ticket is None or not await tx.run(_USE, digest=_digest(token)):
        raise Missing(SPENT)
    return ticket


async def reset_password(tx: Tx, site: Site, token: str, password_hash: str) -> str:
    """The user whose password was changed; all their sessions are over."""
    ticket = await _use(tx, "password_reset", token)
    if ticket.user_id is None:
        raise Missing(SPENT)
    await email_proofs.prove_by_reset(tx, site, ticket.user_id)
    actor = actors.member(ticket.user_id)
    await members.change_password(tx, site, actor, ticket.user_id, password_hash)
    return ticket.user_id


async def accept(tx: Tx, token: str, *, name: str, password_hash: str) -> str:
    """Opens the account that the invitation was for, and returns its owner."""
    ticket = await _use(tx, "invitation", token)
    if ticket.email is None or ticket.role is not None:
        raise Missing(SPENT)
    opened = await open_account(
        tx, EmailAddress(ticket.email), name=name, password_hash=password_hash
    )
    await _prove_by_link(tx, opened.user_id, ticket)
    if ticket.as_partner:
        await accounts.dismiss_checklist(tx, opened.account_id)
    return opened.user_id


async def _prove_by_link(tx: Tx, user_id: str, ticket: Ticket) -> None:
    """A link that was shown may have been followed by whoever invited."""
    if ticket.was_shown:
        await email_proofs.require(tx, user_id)
    else:
        await email_proofs.prove(tx, user_id)


async def join(
    tx: Tx,
    site: Site,
    token: str,
    *,
    user_id: str | None = None,
    name: str = "",
    password_hash: str = "",
) -> tuple[str, str]:
    """Makes the invited person a member, and returns the user and the account. `user_id` is of
    somebody who is logged in; others get a login with this name and password.
    """
    ticket = await _use(tx, "invitation", token)
    if ticket.email is None or ticket.account_id is None or ticket.role is None:
        raise Missing(SPENT)
    _refuse_if_stopped(await accounts.get(tx, ticket.account_id))
    email = EmailAddress(ticket.email)
    if user_id is None:
        user_id = await users.create(tx, email, name=name)
        await passwords.set_hash(tx, user_id, password_hash)
        await _prove_by_link(tx, user_id, ticket)
    elif EmailAddress((await users.get(tx, user_id)).email).key != email.key:
        raise Missing(SPENT)
    role = Role(ticket.role)
    await members.add(tx, ticket.account_id, user_id, role)
    # No campaign is meant: a member belongs to the account.
    change = Change(tx, site, Tenant(ticket.account_id, ""), actors.member(user_id), tx.now_ms)
    await change_log.record(change, "member.joined", user_id, None, {"role": role})
    return user_id, ticket.account_id


async def open_first_account(tx: Tx, email: EmailAddress, *, name: str, password_hash: str) -> str:
    """The administrator's account, if there is no account yet. Of two at the same moment, the
    second is refused."""
    if await is_untouched(tx):
        opened = await open_account(tx, email, name=name, password_hash=password_hash)
        if (await accounts.get(tx, opened.account_id)).is_admin:
            # Only whoever runs the server has the code that this needs.
            await email_proofs.prove(tx, opened.user_id)
            return opened.user_id
    raise Missing("There is an administrator already.")


async def open_account(tx: Tx, email: EmailAddress, *, name: str, password_hash: str) -> Opened:
    """An account of a new user, who can log in."""
    user_id = await users.create(tx, email)
    await passwords.set_hash(tx, user_id, password_hash)
    made = await accounts.open_another(tx, user_id, email, name=name)
    return Opened(user_id, made.account_id)


async def of_inviter(at: AccountReading) -> list[Ticket]:
    """Invitations that still wait, newest first."""
    return await at.all(_OF_INVITER)


async def withdraw(change: Change, ticket_id: str) -> None:
    if not await change.run(_WITHDRAW, id=ticket_id):
        raise Missing("There is no such invitation, or it has been accepted.")
    await change_log.record(change, "invitation.withdrawn", ticket_id)


purge = Purge(_EXPIRED, _PURGE, lambda now_ms: {"now_ms": now_ms}, batch=PURGE_BATCH)
