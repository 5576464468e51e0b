"""One partner of a program: removing them, blocking them in all programs, allowing them again."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.partners import program_partners
from honeyguide.partners.program_partners import ProgramPartner, Removal
from honeyguide.signups import removed_partners
from honeyguide.store.tx import Tx

FIELDS = {"reason": Field("Reason")}


def _page(partner: ProgramPartner) -> str:
    return f"/program/partners/{partner.id}"


async def show(tx: Tx, request: PageRequest) -> PageView:
    partner = await program_partners.get(tx, request.who.account_id, request.at("id"))
    return request.view(
        "partner.html",
        partner=partner,
        action=_page(partner),
        pending=formats.plural(partner.pending_referrals, "pending referral"),
        entered=request.fields,
        money=money.show,
    )


async def remove(tx: Tx, request: PageRequest) -> Response:
    """From this program, or from all of them."""
    change, partner_id = request.change(tx), request.at("id")
    removal = Removal(
        reason=request.text("reason") or None, ends_pending=request.text("pending") == "end"
    )
    if request.text("where") == "all":
        partner = await removed_partners.block(change, partner_id, removal)
        flash = f"{formats.isolated(partner.name)} is blocked in all your programs."
    else:
        partner = await removed_partners.remove(change, partner_id, removal)
        flash = f"{formats.isolated(partner.name)} was removed from this program."
    return request.go(_page(partner), flash)


async def allow(tx: Tx, request: PageRequest) -> Response:
    """Takes a removal or a block back."""
    change, partner_id = request.change(tx), request.at("id")
    if request.text("do") == "unblock":
        partner = await program_partners.unblock(change, partner_id)
        flash = f"{formats.isolated(partner.name)} is no longer blocked."
    else:
        partner = await program_partners.allow(change, partner_id)
        flash = f"{formats.isolated(partner.name)} is allowed in this program again."
    return request.go(_page(partner), flash)
