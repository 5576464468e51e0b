"""What another service said about publications, programs and payouts: to read."""

from __future__ import annotations

from honeyguide.moving import moved_documents
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.store.reading import Reading

PER_PAGE = 50


async def show_all(at: Reading, request: PageRequest) -> PageView:
    page, documents, total = await forms.nearest_page(
        request.query, PER_PAGE, lambda page: moved_documents.page_of(at, page)
    )
    return request.view(
        "import_documents.html",
        documents=documents,
        total=total,
        page=page.page,
        pages=page.total_pages(total),
        link=lambda number: f"/subscribers/import/documents?page={number}",
    )


async def show(at: Reading, request: PageRequest) -> PageView:
    document = await moved_documents.get(at, request.at("id"))
    return request.view("import_document.html", document=document)
