"""Imports of subscribers: upload a file, map its columns, try it, start it, fix what failed."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import (
    checking,
    findings,
    found_things,
    import_files,
    importing,
    moved_documents,
    sources,
    stored_files,
    uploaded_files,
)
from honeyguide.moving.certificate import advice_for
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.importing import Import
from honeyguide.moving.source_columns import FIELDS
from honeyguide.moving.sources import ImportSource
from honeyguide.moving.stored_files import FileInParts
from honeyguide.moving.trial import Trial
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.downloads import attachment
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import Reading, reads

SAMPLE = 4
# Lines with a problem.
SHOWN = 50


CERTIFICATES = "/subscribers/import/certificates"
LINES_SHOWN = 20
DOCUMENTS_PER_PAGE = 50


async def upload_form(at: Reading, request: PageRequest) -> PageView:
    earlier = await importing.of_account(at)
    return request.view(
        "import.html",
        earlier=earlier,
        sources=list(ImportSource),
        chosen=request.text("source"),
        refusal=request.errors.get("", ""),
        certificates=await checking.of_account(at),
    )


async def upload(services: PageServices, request: PageRequest) -> Response:
    file = request.file("file")
    if file is None:
        raise Invalid("Choose a file.")
    content = await file.read(import_files.MOST_BYTES + 1)
    name = file.filename or ""
    in_parts = await asyncio.to_thread(_read, content, name, _source(request))
    import_id = await stored_files.store_file(request.apply, name, in_parts)
    return request.go(f"/subscribers/import/{import_id}")


def _read(content: bytes, name: str, source: ImportSource | None) -> FileInParts:
    return stored_files.in_parts(uploaded_files.read(content, name, source=source))


async def show(at: Reading, request: PageRequest) -> PageView:

    kept = await importing.get(at, request.at("id"))
    is_new = kept.status == "new"
    dry = msgspec.json.decode(kept.dry) if kept.dry else None
    problem = sources.without_addresses(kept.header, kept.mapping) if is_new else ""
    return request.view(
        "import_file.html",
        kept=kept,
        sample=await importing.first_lines(at, kept.id, SAMPLE) if is_new else [],
        errors=await importing.errors(at, kept.id, most=SHOWN) if kept.failed else [],
        counted=findings.in_words(await importing.count_findings(at, kept.id)),
        findings=await importing.findings_of(at, kept.id, most=SHOWN),
        fields=FIELDS,
        # Both are decoded at each look, and the page has as many options as columns and fields.
        columns=[name or f"column {place}" for place, name in enumerate(kept.header, 1)],
        chosen=kept.mapping,
        sources=[(source, source.facts.name) for source in ImportSource],
        dry=dry,
        found=found_things.rows(dry.get("found", {}), dry.get("counted", {})) if dry else [],
        refusal=request.errors.get("", "") or problem,
        checked=await checking.newest_of_import(at, kept.id),
    )


def _source(request: PageRequest) -> ImportSource | None:
    """The tool that was chosen; None if we are to find it."""
    chosen = request.text("source")
    return next((source for source in ImportSource if source == chosen), None)


def _mapping(request: PageRequest, columns: int) -> dict[str, int]:
    """The column of each field that has one."""
    numbers = {field: forms.whole_number(request.text(field)) for field in FIELDS}
    return {
        field: number
        for field, number in numbers.items()
        if number is not None and number < columns
    }


async def apply_button(services: PageServices, request: PageRequest) -> Response:
    """Tries, starts, discards or checks the import, as the button says."""
    import_id = request.at("id")
    kept = await request.read(importing.get, import_id)
    if request.text("do") == "forget":
        await request.apply(importing.forget, import_id)
        return request.go("/subscribers/import", "File discarded.")
    if request.text("do") == "check":
        check_id = await request.apply(checking.begin, import_id)
        return request.go(f"{CERTIFICATES}/{check_id}")
    if kept.status == "new" and request.text("do") == "source":
        await _change_source(services, request, kept)
    elif kept.status == "new":
        mapping = _mapping(request, len(kept.header))
        await _read_dates_again(services, request, kept, mapping)
        await request.apply(
            importing.choose,
            import_id,
            mapping,
            gives_rewards=request.text("gives_rewards") == "1",
            date_choice=_date_choice(request),
        )
        if request.text("do") == "start":
            await request.apply(importing.start, import_id)
        else:
            await _try(services, request)
    return request.go(f"/subscribers/import/{import_id}")


def _date_choice(request: PageRequest) -> DateOrder:
    is_month_first = request.text("dates") == DateOrder.MONTH_FIRST
    return DateOrder.MONTH_FIRST if is_month_first else DateOrder.DAY_FIRST


async def _change_source(services: PageServices, request: PageRequest, kept: Import) -> None:
    """Reads the columns as those of another tool."""
    source = _source(request)
    if source is None:
        raise Invalid("Choose the tool that the file is from.")
    lines = await _lines(services, request)
    file = await asyncio.to_thread(uploaded_files.understand, kept.header, lines, source)
    await request.apply(importing.understand, kept.id, file)


async def _read_dates_again(
    services: PageServices, request: PageRequest, kept: Import, mapping: dict[str, int]
) -> None:
    """If the operator has chosen another column for the signup date."""
    place = mapping.get("created_at")
    if place == kept.mapping.get("created_at"):
        return
    lines = await _lines(services, request)
    dates = await asyncio.to_thread(sources.dates, kept.tool, lines, place)
    file = uploaded_files.UploadedFile(kept.header, [], kept.tool, mapping, dates)
    await request.apply(importing.understand, kept.id, file)


async def _lines(services: PageServices, request: PageRequest) -> list[ImportLine]:
    """The whole file again, part by part so that others are served meanwhile."""
    lines: list[ImportLine] = []
    store, import_id, n = services.store, request.at("id"), 0
    while (
        part := await store.read(
            reads(importing.lines_of, request.services.site, request.tenant, request.now_ms),
            import_id,
            n,
        )
    ) is not None:
        lines += part
        n += 1
        await asyncio.sleep(0)
    return lines


async def _try(services: PageServices, request: PageRequest) -> None:
    """Counts what the import would do, one part of the file at a time, and changes nothing."""
    store = services.store
    kept = await request.read(importing.get, request.at("id"))
    trial, n = Trial(kept.plan.form), 0
    # On SQLite, reading does not suspend: without the sleep, nobody else would be served meanwhile.
    while await store.read(importing.try_part, services.site, kept, n, trial):
        n += 1
        await asyncio.sleep(0)
    while await store.read(importing.try_referrers, services.site, kept, trial):
        await asyncio.sleep(0)
    await request.apply(importing.note_dry, kept.id, trial)


async def error_file(at: Reading, request: PageRequest) -> Response:
    kept = await importing.get(at, request.at("id"))
    errors = await importing.errors(at, kept.id)
    return Response(
        import_files.csv_of_refused(kept.header, errors),
        media_type="text/csv; charset=utf-8",
        headers=attachment("not-imported.csv"),
    )


async def show_certificate(at: Reading, request: PageRequest) -> PageView:
    """What was compared with the file of an import."""
    check = await checking.get(at, request.at("id"))
    if check.made_ms is None:
        kept = await importing.get(at, check.import_id)
        return request.view("certificate_running.html", found=check.tally, total=kept.total)
    return request.view(
        "certificate.html",
        check=check,
        content=check.content,
        advice_for=advice_for,
        most_lines=LINES_SHOWN,
    )


async def certificate_file(at: Reading, request: PageRequest) -> Response:
    check = await checking.get_made(at, request.at("id"))
    return Response(
        check.document,
        media_type="application/json",
        headers=attachment("certificate-of-move.json"),
    )


async def show_documents(at: Reading, request: PageRequest) -> PageView:
    """What another service said about publications, programs and payouts: to read."""
    page, documents, total = await forms.nearest_page(
        request.query, DOCUMENTS_PER_PAGE, lambda page: moved_documents.page_of(at, page)
    )
    return request.view(
        "import_documents.html",
        documents=documents,
        total=total,
        page=page.page,
        pages=page.total_pages(total),
        link=lambda number: f"/subscribers/import/documents?page={number}",
    )


async def show_document(at: Reading, request: PageRequest) -> PageView:
    document = await moved_documents.get(at, request.at("id"))
    return request.view("import_document.html", document=document)
