"""A new email address for a login. A link goes to the old and to the new address, and both must be
followed within a day, in either order: neither a stolen session nor somebody else's mailbox is
enough.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from honeyguide.accounts import members, sessions, users
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.site import Site
from honeyguide.mail import email_kinds, emails, login_texts
from honeyguide.mail.emails import EmailToSend
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

LASTS_MS = DAY_MS
PURGE_BATCH = 500
CHANGED = "account.email_changed"


class EmailChange(NamedTuple):
    user_id: str
    email: str
    """The new one."""
    old_digest: str
    new_digest: str
    old_confirmed_ms: int | None
    new_confirmed_ms: int | None
    expires_ms: int

    @property
    def is_confirmed(self) -> bool:
        return self.old_confirmed_ms is not None and self.new_confirmed_ms is not None


class FoundLink(NamedTuple):
    change: EmailChange
    is_old: bool
    """Whether the link went to the address that is used now."""


_sql = beside(__file__)
_ASK = _sql.command("ask")
_OF_USER = _sql.query("of_user", EmailChange)
_FIND = _sql.query("find", EmailChange)
_CONFIRM = _sql.query("confirm", EmailChange)
_DELETE = _sql.command("delete")
_SET_EMAIL = _sql.command("set_email")
_SET_CONTACTS = _sql.command("set_contacts")
_SPEND_TICKETS = _sql.command("spend_tickets")
_EXPIRED = _sql.value("expired", str)
_PURGE = _sql.command("purge")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def ask(tx: Tx, site: Site, user_id: str, email: EmailAddress) -> None:
    """Writes to both addresses. One that was asked for before is given up. Nobody learns here
    whether somebody else logs in with the new address."""
    user = await users.get(tx, user_id)
    if EmailAddress(user.email).key == email.key:
        raise Invalid("That is your email address already.", param="email")
    old_token, new_token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    await tx.run(
        _ASK,
        user_id=user_id,
        email=email.text,
        old_digest=_digest(old_token),
        new_digest=_digest(new_token),
        expires_ms=tx.now_ms + LASTS_MS,
    )
    sender = await members.sender_for(tx, user_id)
    links = [f"{site.base_url}/login/email/{token}" for token in (old_token, new_token)]
    to_old = login_texts.email_change_old(new_email=email.text, link=links[0], valid_for="24 hours")
    to_new = login_texts.email_change_new(old_email=user.email, link=links[1], valid_for="24 hours")
    for to, message in ((EmailAddress(user.email), to_old), (email, to_new)):
        asking = EmailToSend(sender, to, email_kinds.EMAIL_CHANGE, message)
        await emails.send(tx, asking)


async def of_user(tx: Tx, user_id: str) -> EmailChange | None:
    """The one that waits to be confirmed."""
    return await tx.one(_OF_USER, user_id=user_id)


async def find(tx: Tx, token: str) -> FoundLink | None:
    change = await tx.one(_FIND, digest=_digest(token))
    return FoundLink(change, change.old_digest == _digest(token)) if change else None


async def confirm(tx: Tx, site: Site, token: str, *, session_id: str = "") -> EmailChange:
    """As it is afterwards: if both have confirmed, the address is changed, and all sessions but
    this one are over."""
    # Of two at the same moment, the second sees what the first wrote.
    change = await tx.one(_CONFIRM, digest=_digest(token))
    if change is None:
        raise Missing("This link has already been used or has expired.")
    if change.is_confirmed:
        await _apply(tx, site, change, session_id)
    return change


async def _apply(tx: Tx, site: Site, change: EmailChange, session_id: str) -> None:
    user_id, email = change.user_id, EmailAddress(change.email)
    old = (await users.get(tx, user_id)).email
    message = login_texts.email_changed(new_email=email.text)
    # Before it is changed: to the old address.
    await members.email_user(tx, user_id, email_kinds.LOGIN_CHANGED, message)
    taken = Invalid("Somebody else logs in with this email address. Nothing was changed.")
    await tx.run(
        _SET_EMAIL,
        user_id=user_id,
        email=email.text,
        email_key=email.key,
        taken={"login_user_email": taken},
    )
    await tx.run(_SET_CONTACTS, user_id=user_id, email=email.text, old_email=old)
    await tx.run(_DELETE, user_id=user_id)
    # The links that were sent to the old address.
    await tx.run(_SPEND_TICKETS, user_id=user_id)
    await sessions.end_others(tx, user_id, session_id)
    actor = actors.member(user_id)
    await members.record_of_user(tx, site, actor, user_id, CHANGED)


async def give_up(tx: Tx, user_id: str) -> None:
    if not await tx.run(_DELETE, user_id=user_id):
        raise Missing("This link has already been used or has expired.")


purge = Purge(_EXPIRED, _PURGE, lambda now_ms: {"now_ms": now_ms}, batch=PURGE_BATCH)
