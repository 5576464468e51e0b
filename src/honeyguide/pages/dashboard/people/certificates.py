"""The certificate of an import: what was compared with its file, and the signed document."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.moving import checking, importing
from honeyguide.moving.certificate import advice_for
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.downloads import attachment
from honeyguide.store.reading import Reading

PAGE = "/subscribers/import/certificates"
SHOWN = 20


async def show(at: Reading, request: PageRequest) -> PageView:
    check = await checking.get(at, request.at("id"))
    if check.made_ms is None:
        kept = await importing.get(at, check.import_id)
        return request.view("certificate_running.html", found=check.tally, total=kept.total)
    return request.view(
        "certificate.html",
        check=check,
        content=check.content,
        advice_for=advice_for,
        most_lines=SHOWN,
    )


async def file(at: Reading, request: PageRequest) -> Response:
    check = await checking.get_made(at, request.at("id"))
    return Response(
        check.document,
        media_type="application/json",
        headers=attachment("certificate-of-move.json"),
    )
