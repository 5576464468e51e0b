"""The subscribers who get no emails about their referrals and rewards, because they stopped them or
the operator did.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.mail import stops
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import subscribers

PER_PAGE = 50
FORM = {"email": Field("Email address", "Enter an email address.")}


async def show(at: Reading, request: PageRequest) -> PageView:
    page, rows, total = await forms.nearest_page(
        request.query, PER_PAGE, lambda page: stops.page_of(at, page)
    )
    return request.view(
        "stopped_emails.html",
        rows=rows,
        total=total,
        page=page.page,
        pages=page.total_pages(total),
        link=lambda number: f"/look/emails/stopped?page={number}",
        email=request.text("email"),
    )


async def add(change: Change, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    try:
        subscriber = await subscribers.get(change, request.text("email"))
    except Missing:
        raise Invalid("No subscriber has this email address.", param="email") from None
    await stops.stop(change, subscriber.id)
    return request.go(
        "/look/emails/stopped", f"{subscriber.email} gets none of these emails anymore."
    )
