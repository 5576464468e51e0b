"""Members: which user may do what in which account. An account always has an owner.

Whoever changes the members of an account locks its owners first, and must be one of them still: two
owners who remove each other at the same moment cannot both succeed.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.accounts import passwords, users
from honeyguide.accounts.permissions import Role
from honeyguide.events import change_log
from honeyguide.kernel.actors import Actor, ActorKind
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Forbidden, Invalid, Missing
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import email_kinds, emails, login_texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.emails import EmailToSend
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

LAST_OWNER = "An account needs an owner. Make somebody else an owner first."
# The account of emails to people who are in none.
INSTALLATION = ""
ALREADY_IN = "This person is a member already."
NOT_AN_OWNER = "Only an owner can change who is in the team, and you are no longer one."


class Member(NamedTuple):
    user_id: str
    email: str
    user_name: str | None
    role: str
    created_ms: int
    seen_ms: int | None
    """When they last used the dashboard in a session that is still open."""
    is_unproven: bool
    """They have not shown yet that the email address is theirs, as they must."""

    @property
    def shown_name(self) -> str:
        return self.user_name or self.email


class Membership(NamedTuple):
    account_id: str
    campaign_id: str
    role: str
    newsletter: str
    """What the account's campaign is called."""


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_ACCOUNT = _sql.query("of_account", Member)
_OF_USER = _sql.query("of_user", Membership)
_FIRST_OWNER = _sql.value("first_owner", str)
_ROLE = _sql.value("role", str)
_LOCK_OWNERS = _sql.value("lock_owners", str)
_SET_ROLE = _sql.command("set_role")
_END_INVITATIONS = _sql.command("end_invitations")
_PASS_CONTACT_ON = _sql.command("pass_contact_on")
_DELETE = _sql.command("delete")
_MOVE_SESSIONS = _sql.command("move_sessions")
_END_SESSIONS = _sql.command("end_sessions")


async def add(tx: Tx, account_id: str, user_id: str, role: Role) -> None:
    await tx.put(
        _INSERT,
        account_id=account_id,
        user_id=user_id,
        role=role,
        created_ms=tx.now_ms,
        taken={"member_pkey": Invalid(ALREADY_IN, param="email")},
    )


async def of_account(tx: Tx, account_id: str) -> list[Member]:
    """Owners first, then by when they came."""
    return await tx.all(_OF_ACCOUNT, account_id=account_id)


async def of_user(tx: Tx, user_id: str) -> list[Membership]:
    """The oldest first."""
    return await tx.all(_OF_USER, user_id=user_id)


async def sender_for(tx: Tx, user_id: str) -> str:
    """The account in whose name an email about a user's login is sent."""
    joined = await of_user(tx, user_id)
    return joined[0].account_id if joined else INSTALLATION


async def email_user(tx: Tx, user_id: str, kind: EmailKind, message: EmailText) -> None:
    """Tells somebody what happened to their login."""
    to, sender = EmailAddress((await users.get(tx, user_id)).email), await sender_for(tx, user_id)
    await emails.send(tx, EmailToSend(sender, to, kind, message))


async def email_owners(
    change: Change, kind: EmailKind, message: EmailText, *, once: str = "", delay_ms: int = 0
) -> None:
    """Tells every owner of the account what becomes of it; with `once`, only the first time."""
    account_id = change.tenant.account_id
    for member in await of_account(change.tx, account_id):
        if member.role == Role.OWNER:
            email = EmailToSend(account_id, EmailAddress(member.email), kind, message)
            own_once = f"{once}:{member.user_id}" if once else None
            email = email._replace(once=own_once, delay_ms=delay_ms)
            await emails.send(change.tx, email)


async def withdraw_from_owners(change: Change, once: str) -> None:
    """What was to be sent to them later."""
    account_id = change.tenant.account_id
    for member in await of_account(change.tx, account_id):
        await emails.withdraw(change.tx, account_id, f"{once}:{member.user_id}")


async def first_owner(tx: Tx, account_id: str) -> str:
    """The user who has owned it for longest."""
    owner = await tx.one(_FIRST_OWNER, account_id=account_id)
    if owner is None:
        raise Missing("There is no such account.")
    return owner


async def role_of(tx: Tx, account_id: str, user_id: str) -> str | None:
    return await tx.one(_ROLE, account_id=account_id, user_id=user_id)


async def lock_owners(change: Change) -> list[str]:
    owners = await change.lock(_LOCK_OWNERS)
    if change.actor.kind is ActorKind.MEMBER and change.actor.id not in owners:
        raise Forbidden(NOT_AN_OWNER)
    return owners


async def change_role(change: Change, user_id: str, role: Role) -> None:
    owners = await lock_owners(change)
    before = await role_of(change.tx, change.tenant.account_id, user_id)
    if before is None:
        raise Missing("There is no such member.")
    if owners == [user_id] and role is not Role.OWNER:
        raise Invalid(LAST_OWNER, param="role")
    await change.run(_SET_ROLE, user_id=user_id, role=role)
    if role is not Role.OWNER:
        await change.run(_END_INVITATIONS, user_id=user_id)
        await change.run(_PASS_CONTACT_ON, user_id=user_id)
    await change_log.record(
        change, "member.role_changed", user_id, {"role": before}, {"role": role}
    )


async def remove(change: Change, user_id: str) -> None:
    owners = await lock_owners(change)
    await _end(change, user_id, owners, "member.removed")


async def leave(change: Change) -> None:
    """Whoever makes the change leaves the account."""
    owners = await change.lock(_LOCK_OWNERS)
    await _end(change, change.actor.id, owners, "member.left")


async def _end(change: Change, user_id: str, owners: list[str], action: str) -> None:
    role = await role_of(change.tx, change.tenant.account_id, user_id)
    if role is None:
        raise Missing("There is no such member, or they have left already.")
    if owners == [user_id]:
        raise Invalid(LAST_OWNER)
    await _delete(change, user_id, role, action)


async def _delete(change: Change, user_id: str, role: str, action: str) -> None:
    await change.run(_END_INVITATIONS, user_id=user_id)
    await change.run(_DELETE, user_id=user_id)
    await change.run(_PASS_CONTACT_ON, user_id=user_id)
    # Their sessions go on in another account of theirs, if they have one.
    left = await of_user(change.tx, user_id)
    if left:
        await change.run(_MOVE_SESSIONS, user_id=user_id, other_account_id=left[0].account_id)
    else:
        await change.run(_END_SESSIONS, user_id=user_id)
    await change_log.record(change, action, user_id, {"role": role}, None)


async def remove_all(change: Change) -> None:
    """For an account that is closed: it has no owner any more."""
    owners = await change.lock(_LOCK_OWNERS)
    for member in await of_account(change.tx, change.tenant.account_id):
        await _delete(change, member.user_id, member.role, "member.removed")
    assert len(owners) > 0, "an account has an owner until it is closed"


async def record_of_user(tx: Tx, site: Site, actor: Actor, user_id: str, action: str) -> None:
    """Logs what a user did about their login in every account that they are a member of."""
    for each in await of_user(tx, user_id):
        change = Change(tx, site, Tenant(each.account_id, each.campaign_id), actor, tx.now_ms)
        await change_log.record(change, action, user_id)


async def change_password(
    tx: Tx, site: Site, actor: Actor, user_id: str, password_hash: str
) -> None:
    """A new password, chosen by somebody who may."""
    await passwords.set_hash(tx, user_id, password_hash)
    await record_of_user(tx, site, actor, user_id, "account.password_changed")
    message = login_texts.password_changed(forgot=f"{site.base_url}/password")
    await email_user(tx, user_id, email_kinds.LOGIN_CHANGED, message)


async def hand_over(change: Change, user_id: str) -> None:
    """The account gets a new owner, and whoever was it stays as an editor."""
    if user_id == change.actor.id:
        raise Invalid("You are the owner already.", param="user_id")
    await change_role(change, user_id, Role.OWNER)
    await change_role(change, change.actor.id, Role.EDITOR)
