"""The partner network: a directory with its filters in the URL, and one button to join."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import cards, formats
from honeyguide.pages.dashboard.formats import label
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.partners import audience, network, partner_emails, public_figures, verification
from honeyguide.partners.network import SORTS, NetworkQuery
from honeyguide.signups import awaited_looks
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

PER_PAGE = 24
FIELDS = {"reason_for_recommending": Field("Why you recommend it")}
NARROWED_BY = (
    ("category", "Category", audience.CATEGORIES),
    ("audience_gender", "Audience", audience.GENDERS),
    ("age_range", "Age", audience.AGE_RANGES),
    ("income_level", "Income", audience.INCOME_LEVELS),
)
FILTERS = {"min_cpa", *(name for name, _, _ in NARROWED_BY)}
SORT_LABELS = (
    ("created_at", "Newest"),
    ("cpa", "Highest fee"),
    ("max_payout", "Highest cap"),
    ("confirmation_rate", "Highest confirmation rate"),
)


def _query(request: PageRequest) -> NetworkQuery:
    query = request.query
    return NetworkQuery(
        search=query.get("search", "").strip()[:200],
        min_cpa_cents=_cents(query.get("min_cpa", "")),
        sort=_word(query.get("sort", ""), SORTS) or "created_at",
        **{name: _word(query.get(name, ""), words) for name, _, words in NARROWED_BY},
    )


def _word(text: str, allowed: tuple[str, ...]) -> str:
    return text if text in allowed else ""


def _cents(text: str) -> int:
    """A filter that cannot be read filters nothing."""
    try:
        return money.cents(forms.amount(text, param="min_cpa"), param="min_cpa")
    except Invalid:
        return 0


async def show(at: Reading, request: PageRequest) -> PageView:
    query = _query(request)
    page, rows, total = await forms.nearest_page(
        request.query,
        PER_PAGE,
        lambda page: network.page_of(at, query, page),
    )
    kept = {name: value for name, value in request.query.items() if name != "page" and value}
    narrowing = kept.keys() - {"sort"}
    return request.view(
        "network.html",
        rows=rows,
        total=total,
        query=query,
        page=page.page,
        pages=page.total_pages(total),
        link=lambda number: "/network?" + urlencode({**kept, "page": str(number)}),
        **cards.SHOWN,
        narrowed_by=[
            (name, title, [("", "Any"), *((word, label(word)) for word in words)])
            for name, title, words in NARROWED_BY
        ],
        sorts=SORT_LABELS,
        min_cpa=request.query.get("min_cpa", ""),
        filtered=bool(narrowing),
        in_use=len(narrowing & FILTERS),
    )


async def one(at: Reading, request: PageRequest) -> PageView:
    program = await network.get(at.tx, request.who.account_id, request.at("id"))
    figures = await public_figures.of(at.tx, [program.id])
    looks = await awaited_looks.figures(at.tx, [program.id])
    is_partner = program.has_joined
    contact = (
        await partner_emails.contact_of(at.of_account(program.account_id)) if is_partner else None
    )
    return request.view(
        "network_program.html",
        program=program,
        figures=figures.get(program.id),
        asked=verification.of(program),
        looks=looks[program.id],
        contact=contact,
        reason=request.text("reason"),
        **cards.SHOWN,
    )


async def join(change: Change, request: PageRequest) -> Response:
    reason = request.text("reason") or None
    program = await network.get(change.tx, request.who.account_id, request.at("id"))
    campaign, _ = await network.join(change, program.id, reason)
    name = formats.isolated(campaign.publication_name)
    flash = (
        f"You joined the partner program of {name}. Here are your links."
        if not program.has_joined
        else "You already joined this program. Here are your links."
    )
    return request.go(f"/earnings/{campaign.id}", flash)
