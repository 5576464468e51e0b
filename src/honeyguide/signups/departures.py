"""Readers of partners who went: fees that wait for the owner because their team ended them, and
readers who bounced or complained after their fee, while it can be taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.reasons import Reason

MOST = 200


class EndedFee(NamedTuple):
    """Of a referral that waits for a decision."""

    subscriber_id: str
    partner_campaign_id: str
    publication_name: str
    team_act: str
    email: str | None
    """None of somebody who was erased."""
    name: str | None
    fee_cents: int
    arrived_ms: int
    due_ms: int


class ReturnedReader(NamedTuple):
    id: str
    """Of the referral."""
    subscriber_id: str
    email: str | None
    how: Reason
    charged_cents: int


class KnownDeparture(NamedTuple):
    """What is kept with a partner's referral."""

    ended_by_team: str | None
    returned: str | None


class _Returned(NamedTuple):
    id: str
    subscriber_id: str
    email: str | None
    how: str
    charged_cents: int
    own_key: str
    mailbox: str | None
    """Of an email of ours. None if a platform says it."""


_sql = beside(__file__)
_ENDED = _sql.query("ended", EndedFee)
_RETURNED = _sql.query("returned", _Returned)
_OF_SUBSCRIBER = _sql.query("of_subscriber", KnownDeparture)
_ENDED_AMONG = _sql.value("ended_among", str)


async def ended(at: Reading) -> list[EndedFee]:
    """The oldest of the account, those of a partner together."""
    return await at.all(_ENDED, most=MOST)


async def needs_why(at: Reading, ids: Sequence[str], note: str | None) -> bool:
    """Before these are rejected: whether the owner still has to say why."""
    return note is None and bool(await at.all(_ENDED_AMONG, ids=list(ids)))


async def returned(at: Reading, program_id: str, last_closed: str) -> list[ReturnedReader]:
    """Who bounced or complained after they were charged, of open months. An email to an address
    that the owner gave them says nothing of the reader."""
    found = {}
    for each in await at.all(_RETURNED, program_id=program_id, last_closed=last_closed):
        keys = at.site.person_keys(EmailAddress(each.mailbox)) if each.mailbox else [each.own_key]
        if each.own_key in keys:
            how = Reason(each.how)
            found[each.id] = ReturnedReader(
                each.id, each.subscriber_id, each.email, how, each.charged_cents
            )
    return list(found.values())


async def of_subscriber(at: Reading, subscriber_id: str) -> KnownDeparture:
    return await at.one(_OF_SUBSCRIBER, subscriber_id=subscriber_id) or KnownDeparture(None, None)
