"""Tells the accounts that a person was in already what follows when they join another: between a
program and a partner with a member in common, new referrals are not paid. Both sides of the
invitation read so before (`dashboard/shared_members.html`); nobody else learns of it.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from honeyguide.accounts import users
from honeyguide.mail import notifications, partner_texts
from honeyguide.mail.email_kinds import SHARED_MEMBER
from honeyguide.mail.notifications import Notification
from honeyguide.store.change import Change
from honeyguide.store.statements import beside


class _Shared(NamedTuple):
    """One partner campaign between an account of the person and the one they joined."""

    id: str
    account_id: str
    """The one to tell, whose email address and role follow."""
    email: str
    is_owner: bool
    other: str
    program_id: str
    program: str


_sql = beside(__file__)
_WITH_JOINED = _sql.query("with_joined", _Shared)


async def notify(change: Change) -> None:
    """After the actor of the change joined its account, with one notification per other account."""
    found = await change.all(_WITH_JOINED, user_id=change.actor.id)
    if not found:
        return
    user = await users.get(change.tx, change.actor.id)
    once = f"{SHARED_MEMBER.name}:{change.tenant.account_id}:{user.id}:{change.now_ms}"
    for account_id, group in groupby(found, attrgetter("account_id")):
        between = list(group)
        first = between[0]
        page = f"/program/{first.program_id}" if first.is_owner else f"/earnings/{first.id}"
        message = partner_texts.shared_member(
            member=user.name or user.email,
            other=first.other,
            owned=[each.program for each in between if each.is_owner],
            promoted=[each.program for each in between if not each.is_owner],
            page=f"{change.site.base_url}{page}",
        )
        kind = SHARED_MEMBER.name
        notification = Notification(account_id, first.email, kind, once, message, link=page)
        await notifications.notify(change.tx, change.site.base_url, notification)
