"""One partner of a program: what came of their links, what they cost, and how good it is next to
the others; removing them, blocking them in all programs, allowing them again.
"""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.dashboard import bars, formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.partners.program import LATELY, SHOWN_DAYS, figures_of
from honeyguide.pages.dashboard.partners.referral_days import MOST_CELLS
from honeyguide.pages.forms import Field
from honeyguide.partners import outlook, partner_figures, partner_names, program_partners, rules
from honeyguide.partners.partner_figures import FigureDay, FigureDays, PartnerFigures
from honeyguide.partners.program_partners import ProgramPartner, Removal
from honeyguide.signups import removed_partners
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

FIELDS = {"reason": Field("Reason")}
# A share of fewer says nothing.
LEAST_COMPARED = 20


def _page(partner: ProgramPartner) -> str:
    return f"/program/partners/{partner.id}"


class Quality(NamedTuple):
    """A share of this partner's subscribers, and the same of the program's other partners."""

    name: str
    percent: int
    others: list[int]

    @property
    def label(self) -> str:
        others = ", ".join(f"{each}%" for each in self.others)
        return f"{self.percent}%, others {others}" if others else f"{self.percent}%"


class DayCells(NamedTuple):
    day_ms: int
    cells: list[str]
    more: int
    label: str


def _quality(partner_id: str, days: FigureDays, today: int) -> list[Quality]:
    """Only of partners with enough subscribers: a share of few says nothing."""
    every = days.by_partner()
    older = days.by_partner(lambda day: day <= today - LATELY)

    def compare(name: str, shares: dict[str, tuple[int, int]]) -> Quality | None:
        enough = {key: 100 * n // of for key, (n, of) in shares.items() if of >= LEAST_COMPARED}
        if partner_id not in enough:
            return None
        others = sorted(share for key, share in enough.items() if key != partner_id)
        return Quality(name, enough[partner_id], others)

    found = (
        compare("Confirmed their address", {k: (f.confirmed, f.signups) for k, f in every.items()}),
        compare(
            "Verified, of those decided",
            {k: (f.verified, f.signups - f.pending) for k, f in every.items()},
        ),
        compare(
            "Still subscribed after 30 days", {k: (f.kept, f.verified) for k, f in older.items()}
        ),
    )
    return [each for each in found if each is not None]


def _by_day(days: list[FigureDay]) -> list[DayCells]:
    found = []
    for each in days:
        rejected = each.signups - each.verified - each.pending
        counts = {"verified": each.verified, "pending": each.pending, "rejected": rejected}
        cells = [kind for kind, n in zip("vpx", counts.values(), strict=True) for _ in range(n)]
        label = ", ".join(f"{n:,} {word}" for word, n in counts.items() if n)
        more = max(0, len(cells) - MOST_CELLS)
        found.append(DayCells(each.day * DAY_MS, cells[:MOST_CELLS], more, label))
    return found


async def show(at: Reading, request: PageRequest) -> PageView:
    now_ms = request.now_ms
    partner = await program_partners.get(at, request.at("id"))
    days = await figures_of(at, request, partner.program_id)
    today, month = now_ms // DAY_MS, rules.month_of(now_ms)
    asked = LATELY if request.query.get("days") != str(SHOWN_DAYS) else SHOWN_DAYS
    counts = days.by_partner(lambda day: day > today - asked).get(partner.id, PartnerFigures())
    months = await outlook.of_program(at, partner.program_id)
    charged = await partner_figures.charged_of_program(at, partner.program_id, month)
    paid = await partner_figures.months_of_campaign(at, partner.id)
    by_month = {each.month: each.cents for each in paid}
    limit = months[0].limit_of(partner.id)
    pending_cents = sum(each.of(partner.id).pending_cents for each in months)
    return request.view(
        "partner.html",
        partner=partner,
        logo=(await partner_names.of(at, [partner.id]))[partner.id].logo,
        action=_page(partner),
        pending=formats.plural(partner.pending_referrals, "pending referral"),
        worth=pending_cents and money.show(pending_cents),
        entered=request.fields,
        days_shown=asked,
        ranges=(LATELY, SHOWN_DAYS),
        counts=counts,
        quality=_quality(partner.id, days, today),
        by_day=_by_day([each for each in days.of(partner.id) if each.day > today - asked]),
        month=month,
        spent_cents=by_month.get(month, 0),
        charged=sum(each.n for each in charged if each.partner_campaign_id == partner.id),
        ahead=[(each.month, each.of(partner.id), each.limit_of(partner.id)) for each in months],
        parts=bars.parts(
            {
                "sure": by_month.get(month, 0),
                "may": limit.cents,
                "over": limit.pending_cents - limit.cents,
            },
            whole=partner.max_payout_cents,
        ),
        columns=bars.months(by_month, month, 12, more=limit.cents) if by_month else [],
        earlier=[each for each in paid if each.month != month],
        money=money.show,
    )


async def remove(change: Change, request: PageRequest) -> Response:
    """From this program, or from all of them."""
    partner_id = request.at("id")
    removal = Removal(
        reason=request.text("reason") or None, ends_pending=request.text("pending") == "end"
    )
    if request.text("where") == "all":
        partner = await removed_partners.block(change, partner_id, removal)
        flash = f"{formats.isolated(partner.name)} is blocked in all your programs."
        undo = f"unblock.{partner_id}"
    else:
        partner = await removed_partners.remove(change, partner_id, removal)
        flash = f"{formats.isolated(partner.name)} was removed from this program."
        undo = f"allow.{partner_id}"
    # Referrals that were ended stay so.
    return request.go(_page(partner), flash, undo="" if removal.ends_pending else undo)


async def allow(change: Change, request: PageRequest) -> Response:
    """Takes a removal or a block back."""
    partner_id = request.at("id")
    if request.text("do") == "unblock":
        partner = await removed_partners.unblock(change, partner_id)
        flash = f"{formats.isolated(partner.name)} is no longer blocked."
    else:
        partner = await removed_partners.allow(change, partner_id)
        flash = f"{formats.isolated(partner.name)} is allowed in this program again."
    return request.go(_page(partner), flash)
