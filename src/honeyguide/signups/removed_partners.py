"""Parting from a partner: removing or blocking them, and ending what is pending if the owner wants
that; and taking it back.
"""

from __future__ import annotations

from honeyguide.partners import program_partners
from honeyguide.partners.program_partners import ProgramPartner, Removal
from honeyguide.screening import rules
from honeyguide.signups import claims, signups, undone_stops
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers.reasons import Reason

# Pending referrals that are rejected in the transaction of the removal, each with its events. There
# may be thousands: of the others it only says that they are to be rejected, and the job that looks
# after holding periods does that.
MOST_AT_ONCE = 20

_sql = beside(__file__)
_LOCK_PENDING = _sql.value("lock_pending", str)
_END_LATER = _sql.command("end_later")


async def remove(change: Change, partner_id: str, removal: Removal) -> ProgramPartner:
    return await _part(change, *await program_partners.remove(change, partner_id, removal), removal)


async def block(change: Change, partner_id: str, removal: Removal) -> ProgramPartner:
    return await _part(change, *await program_partners.block(change, partner_id, removal), removal)


async def _part(
    change: Change, partner: ProgramPartner, partner_campaigns: list[str], removal: Removal
) -> ProgramPartner:
    if not removal.ends_pending:
        return partner
    await _end_pending(change, partner_campaigns)
    return await program_partners.get(change, partner.id)


async def allow(change: Change, partner_id: str) -> ProgramPartner:
    partner, removed = await program_partners.allow(change, partner_id)
    for partner_campaign_id, removed_ms in removed.items():
        await undone_stops.of_partner(change, removed_ms, partner_campaign_id=partner_campaign_id)
    return await program_partners.get(change, partner.id)


async def unblock(change: Change, partner_id: str) -> ProgramPartner:
    partner, blocked = await program_partners.unblock(change, partner_id)
    for partner_account_id, blocked_ms in blocked.items():
        await undone_stops.of_partner(change, blocked_ms, partner_account_id=partner_account_id)
    return await program_partners.get(change, partner.id)


async def _end_pending(change: Change, partner_campaigns: list[str]) -> None:
    # All of them before the first is counted: whoever decides one locks in the same order.
    at_once = await change.lock(
        _LOCK_PENDING, partner_campaigns=partner_campaigns, most=MOST_AT_ONCE
    )
    await change.run(
        _END_LATER,
        partner_campaigns=partner_campaigns,
        at_once=at_once,
        reason=Reason.PARTNER_REMOVED.value,
    )
    for subscriber_id in at_once:
        if await signups.end_with_partner(change, subscriber_id) is None:
            await claims.end(change, subscriber_id, rules.on_partner_removed)
