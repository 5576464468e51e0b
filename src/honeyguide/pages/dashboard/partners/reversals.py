"""Taking back what a program paid for some of its referrals: which ones, why, and what follows."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.partners import ledger, programs, reversal_reasons
from honeyguide.partners.reversal_reasons import NOTE_LIMIT, ReversalReason
from honeyguide.signups import paid_referrals, reversals
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

# As many as a page of the program lists.
MOST = 50
FORM = {
    "reason": Field("Reason", "Choose a reason."),
    "text": Field("Message to the partner", "Say why."),
}


async def show(at: Reading, request: PageRequest) -> PageView:
    """What is chosen: by the address, or by the form that was refused."""
    program = await programs.get_unsettled(at, request.at("id"))
    ids = request.several("referral") or request.http.query_params.getlist("referral")
    found = await paid_referrals.some_of_program(at, program.id, ids[:MOST])
    last_closed = await ledger.last_closed(at.tx)
    rows = [row for row in found if reversals.may_reverse(row, last_closed)]
    return request.view(
        "reversal.html",
        program=program,
        rows=rows,
        left_out=len(found) - len(rows),
        total=sum(row.charged_cents or 0 for row in rows),
        partners=sorted({row.partner_name for row in rows}),
        reasons=list(ReversalReason),
        typed={"reason": request.query.get("reason", ""), **request.fields},
        note_limit=NOTE_LIMIT,
        money=money.show,
    )


async def reverse(change: Change, request: PageRequest) -> Response:
    ids = list(dict.fromkeys(request.several("referral")))
    if not 0 < len(ids) <= MOST:
        raise Invalid("Select 1 to {most} referrals.", param="referral", most=MOST)
    reason = request.text("reason")
    if not reason:
        raise Required("reason")
    reversal = reversal_reasons.parse(reason, request.text("text"))
    program_id = request.at("id")
    outcomes = await reversals.reverse(change, program_id, ids, reversal)
    refusals = [each.refused for each in outcomes if each.refused is not None]
    done = len(outcomes) - len(refusals)
    flash = f"{formats.plural(done, 'charge')} taken back. The partner was told." if done else ""
    if refusals:
        left = formats.plural(len(refusals), "charge was", "charges were")
        flash += f" {left} left: {refusals[0]}"
    return request.go(f"/program/{program_id}", flash.strip())
