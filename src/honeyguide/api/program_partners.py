"""v2 endpoints for the partners of a program: who they are, removing, blocking and allowing them;
and for a partner who leaves.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, listed
from honeyguide.api.partner_views import OnePartnerCampaign, PartnerName, partner_campaign_view
from honeyguide.api.views import META, PageMeta, Total, View, filler, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.public import doc
from honeyguide.partners import network, program_partners, programs
from honeyguide.partners.program_partners import ProgramPartner, Removal
from honeyguide.partners.rules import PARTNER_STATUSES
from honeyguide.signups import removed_partners
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

_AFTERWARDS = (
    "New referrals with the partner's code are rejected as `partner_removed`; the links still lead "
    "to your newsletter. What is pending finishes as planned unless you end it. The partner is "
    "notified, with the reason if you give one. Doing it again changes nothing, but may still end "
    "what is pending."
)


class ProgramPartnerView(View, frozen=True):
    """A partner of one of your programs."""

    partner_campaign_uuid: public.PartnerCampaignUuid
    name: PartnerName
    status: Annotated[
        str,
        doc(
            "`active`; `left` if the partner left; `removed` if you removed them from this "
            "program; `blocked` if you blocked them in all your programs.",
            "active",
            enum=list(PARTNER_STATUSES),
        ),
    ]
    reason_for_recommending: Annotated[str | None, doc("As the partner wrote it.", None)]
    pending_referrals: Annotated[int, doc("Referrals that are still pending.", 3)]
    pending: Annotated[Decimal, doc("The most that these may cost, in US dollars.", 7.5)]
    joined_at: Annotated[public.Time, doc("When the partner first joined.")]
    left_at: Annotated[public.Time | None, doc("When the partner left.", None)]
    removed_at: Annotated[public.Time | None, doc("When you removed or blocked the partner.", None)]
    removed_reason: Annotated[str | None, doc("The reason that you gave.", None)]


class OneProgramPartner(View, frozen=True):
    partner: ProgramPartnerView


class ProgramPartnerMeta(PageMeta, frozen=True):
    total_partners: Total


class ProgramPartnerList(View, frozen=True):
    partners: list[ProgramPartnerView]
    meta: Annotated[ProgramPartnerMeta, META]


_fill_partner = filler(
    ProgramPartnerView,
    ProgramPartner,
    given=["removed_at", "removed_reason"],
    partner_campaign_uuid="id",
    joined_at=("created_ms", iso),
)


def _view(p: ProgramPartner) -> ProgramPartnerView:
    is_blocked = p.blocked_ms is not None
    return _fill_partner(
        p,
        removed_at=iso_or_none(p.blocked_ms if is_blocked else p.removed_ms),
        removed_reason=p.blocked_reason if is_blocked else p.removed_reason,
    )


async def _get(at: Reading, call: Call[Any]) -> ProgramPartner:
    """The partner whom the path names, if they are in the program that it names."""
    program = await programs.get_unsettled(at, call.path["uuid"])
    found = await program_partners.get(
        at.of_account(program.account_id), call.path["partner_campaign_uuid"]
    )
    if found.program_id != program.id:
        raise Missing(program_partners.UNKNOWN)
    return found


async def list_program_partners(at: Reading, call: Call[None]) -> Listed[ProgramPartnerList]:
    """List a partner program's partners.

    Everyone who ever joined, with their status, their pending referrals and what these may cost.
    """
    page = call.page
    program = await programs.get_unsettled(at, call.path["uuid"])
    rows, total = await program_partners.page_of(at.tx, program, page)
    return listed(ProgramPartnerList, ProgramPartnerMeta, [_view(row) for row in rows], page, total)


async def get_program_partner(at: Reading, call: Call[None]) -> OneProgramPartner:
    """Get a partner of a program.

    Takes the UUID of the partner campaign, as in the list.
    """
    return OneProgramPartner(_view(await _get(at, call)))


async def remove_program_partner(change: Change, call: Call[None]) -> OneProgramPartner:
    """Remove a partner from a program.

    {_AFTERWARDS}
    """
    removal = Removal(
        reason=call.query.get("reason") or None,
        ends_pending=call.choice("end_pending", ("false", "true"), "false") == "true",
    )
    partner = await _get(change, call)
    removed = await removed_partners.remove(change, partner.id, removal)
    return OneProgramPartner(_view(removed))


async def allow_program_partner(change: Change, call: Call[None]) -> OneProgramPartner:
    """Allow a removed partner again.

    The partner's code counts again, unless they left; then they can join again.
    """
    partner = await _get(change, call)
    return OneProgramPartner(_view(await removed_partners.allow(change, partner.id)))


async def block_partner(change: Change, call: Call[bodies.BlockPartnerInput]) -> OneProgramPartner:
    """Block a partner in all your programs.

    Also in programs that you create later. {_AFTERWARDS}
    """
    removal = Removal(reason=call.body.reason or None, ends_pending=call.body.end_pending)
    partner = await _get(change, call)
    blocked = await removed_partners.block(change, partner.id, removal)
    return OneProgramPartner(_view(blocked))


async def unblock_partner(change: Change, call: Call[None]) -> OneProgramPartner:
    """Unblock a partner.

    Programs from which you also removed the partner stay closed to them until you allow them again.
    """
    partner = await _get(change, call)
    return OneProgramPartner(_view(await removed_partners.unblock(change, partner.id)))


async def leave_program(change: Change, call: Call[None]) -> OnePartnerCampaign:
    """Leave a partner program.

    New referrals with your code are rejected as `partner_left`; what is pending finishes as
    planned. If you join again, you get the same partner campaign and code.
    """
    left = await network.leave(change, call.path["uuid"])
    return OnePartnerCampaign(partner_campaign_view(change.site, left))
