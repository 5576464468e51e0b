"""Marks payouts as paid or as unpaid again, and logs who did: in the log of the partner who is
paid, whoever the administrator is.
"""

from __future__ import annotations

from typing import Any

from honeyguide.events import change_log
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import payouts
from honeyguide.partners.payouts import Payout
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx


async def mark_paid(tx: Tx, site: Site, actor: Actor, payout_id: str, reference: str) -> Payout:
    """`reference` is the bank's."""
    before = await payouts.get_any(tx, payout_id)
    after = await payouts.mark_paid(tx, payout_id, reference)
    change = _change(tx, site, actor, after, tx.now_ms)
    await change_log.record(change, "payout.paid", after.id, _logged(before), _logged(after))
    return after


async def unmark_paid(tx: Tx, site: Site, actor: Actor, payout_id: str) -> Payout:
    before = await payouts.get_any(tx, payout_id)
    after = await payouts.unmark_paid(tx, payout_id)
    change = _change(tx, site, actor, after, tx.now_ms)
    await change_log.record(change, "payout.unpaid", after.id, _logged(before), _logged(after))
    return after


def _change(tx: Tx, site: Site, actor: Actor, payout: Payout, now_ms: int) -> Change:
    # A payout belongs to the account, so no campaign is meant.
    return Change(tx, site, Tenant(payout.account_id, ""), actor, now_ms)


def _logged(payout: Payout) -> dict[str, Any]:
    is_paid = payout.paid_ms is not None
    return {
        "paid_cents": payout.amount_cents if is_paid else 0,
        "reference": payout.paid_reference,
    }
