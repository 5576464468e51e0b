"""What follows when an owner looked at a partner's readers and refused them. Who is pending is
rejected, what was charged in an open month is taken back, and they are unsubscribed, here and at
the platform: a fee refused is a reader refused. Each has a transaction of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import ledger
from honeyguide.partners.reversal_reasons import Reversal, ReversalReason
from honeyguide.signups import reversals, signups
from honeyguide.signups.lifecycle import SubscriberChanges
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.referral_states import Status

NOTE = "Refused in the first look at the readers of this partner."


class RefusedReader(NamedTuple):
    account_id: str
    campaign_id: str
    program_id: str
    id: str
    """Of the referral."""
    subscriber_id: str
    is_pending: int
    is_gone: int
    """Erased, or unsubscribed already."""

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


_sql = beside(__file__)
_TO_REFUSE = _sql.query("to_refuse", RefusedReader)


async def to_refuse(tx: Tx, *, most: int) -> list[RefusedReader]:
    return await tx.all(_TO_REFUSE, last_closed=await ledger.last_closed(tx), most=most)


async def refuse(change: Change, found: RefusedReader) -> None:
    if found.is_pending:
        await signups.decide(change, found.subscriber_id, Status.REJECTED, note=NOTE)
    if not found.is_gone:
        left = SubscriberChanges(status="unsubscribed")
        await signups.update(change, found.subscriber_id, left)
    if not found.is_pending:
        taken_back = Reversal(ReversalReason.NOT_A_READER, NOTE)
        await reversals.reverse(change, found.program_id, [found.id], taken_back)
