"""The network: directory worth choosing by, filters in the address, one button to join."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms
from honeyguide.pages.dashboard import cards
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.partners import audience, network
from honeyguide.partners.directory import SORTS, NetworkQuery
from honeyguide.partners.network import NetworkProgram, PartnerCampaign
from honeyguide.store.tx import Tx

PER_PAGE = 24
FIELDS = {"reason_for_recommending": Field("Why you recommend it")}
SORT_WORDS = (
    ("created_at", "Newest"),
    ("cpa", "Highest fee"),
    ("max_payout", "Highest cap"),
    ("confirmation_rate", "Highest confirmation rate"),
)


def _wanted(request: PageRequest) -> NetworkQuery:
    query = request.query

    def word(name: str, allowed: tuple[str, ...]) -> str:
        return query.get(name, "") if query.get(name, "") in allowed else ""

    return NetworkQuery(
        search=query.get("search", "").strip()[:200],
        category=word("category", audience.CATEGORIES),
        min_cpa_cents=_cents(query.get("min_cpa", "")),
        audience_gender=word("audience_gender", audience.GENDERS),
        income_level=word("income_level", audience.INCOME_LEVELS),
        age_range=word("age_range", audience.AGE_RANGES),
        sort=word("sort", SORTS) or "created_at",
    )


def _cents(text: str) -> int:
    """What a filter cannot read, it leaves out."""
    try:
        return money.cents(Decimal(text), param="min_cpa") if text else 0
    except (InvalidOperation, Invalid):
        return 0


async def show(request: PageRequest) -> Response:
    wanted = _wanted(request)
    number = request.query.get("page", "1")
    page = Page(
        max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 8 else 1,
        PER_PAGE,
    )

    async def look(tx: Tx) -> tuple[list[NetworkProgram], int]:
        return await network.page_of(
            tx, request.who.account_id, wanted, page, now_ms=request.now_ms
        )

    rows, total = await request.read(look)
    kept = {name: value for name, value in request.query.items() if name != "page" and value}
    return await request.page(
        "dashboard/network.html",
        rows=rows,
        total=total,
        wanted=wanted,
        page=page.page,
        pages=page.total_pages(total),
        link=lambda n: "/network?" + urlencode({**kept, "page": str(n)}),
        **cards.SHOWN,
        categories=audience.CATEGORIES,
        genders=audience.GENDERS,
        income_levels=audience.INCOME_LEVELS,
        age_ranges=audience.AGE_RANGES,
        sorts=SORT_WORDS,
        min_cpa=request.query.get("min_cpa", ""),
        filtered=bool(kept),
    )


async def one(request: PageRequest) -> Response:
    return await _offer(request, {})


async def _offer(request: PageRequest, wrong: dict[str, str]) -> Response:
    async def look(tx: Tx) -> NetworkProgram:
        return await network.get(
            tx, request.who.account_id, request.at("id"), now_ms=request.now_ms
        )

    offer = await request.read(look)
    status = 400 if wrong else 200
    return await request.page(
        "dashboard/network_program.html",
        status,
        offer=offer,
        reason=request.text("reason"),
        wrong=wrong,
        **cards.SHOWN,
    )


async def join(request: PageRequest) -> Response:
    async def change(tx: Tx) -> tuple[PartnerCampaign, bool]:
        reason = request.text("reason") or None
        return await network.join(
            tx, request.who.account_id, request.at("id"), reason, now_ms=request.now_ms
        )

    try:
        joined, is_new = await request.write(change)
    except Invalid as fault:
        return await _offer(request, forms.errors_of(fault, FIELDS))
    flash = (
        f"You joined the partner program of {joined.publication_name}. Here are your links."
        if is_new
        else "You already joined this program. Here are your links."
    )
    return request.go(f"/earnings/{joined.id}", flash)
