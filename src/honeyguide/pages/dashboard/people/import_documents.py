"""What another service said about publications, programs and payouts: to read."""

from __future__ import annotations

from honeyguide.moving import moved_documents
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.store.tx import Tx

PER_PAGE = 50


async def show_all(tx: Tx, request: PageRequest) -> PageView:
    page, documents, total = await forms.nearest_page(
        request.query, PER_PAGE, lambda page: moved_documents.page_of(tx, request.tenant, page)
    )
    return request.view(
        "import_documents.html",
        documents=documents,
        total=total,
        page=page.page,
        pages=page.total_pages(total),
        link=lambda number: f"/subscribers/import/documents?page={number}",
    )


async def show(tx: Tx, request: PageRequest) -> PageView:
    document = await moved_documents.get(tx, request.tenant, request.at("id"))
    return request.view("import_document.html", document=document)
