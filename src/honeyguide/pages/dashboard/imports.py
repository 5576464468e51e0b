"""Imports of subscribers: upload a file, map its columns, try it, start it, fix what failed."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import findings, import_files, importing
from honeyguide.moving.import_columns import FIELDS
from honeyguide.moving.trial import Trial
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.downloads import attachment
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

SAMPLE = 4
# Lines with a problem.
SHOWN = 50


async def upload_form(tx: Tx, request: PageRequest) -> PageView:
    earlier = await importing.of_account(tx, request.tenant)
    return request.view("import.html", earlier=earlier, refusal=request.errors.get("", ""))


async def upload(services: PageServices, request: PageRequest) -> Response:
    file = request.file("file")
    if file is None:
        raise Invalid("Choose a file.")
    content = await file.read(import_files.MOST_BYTES + 1)
    read = await asyncio.to_thread(importing.read_file, content)
    store, tenant, name = services.store, request.tenant, file.filename or ""
    import_id = await store.write(
        importing.begin, tenant, name, read.header, read.mapping, now_ms=request.now_ms
    )
    for first in range(0, len(read.parts), importing.SLICE):
        batch = read.parts[first : first + importing.SLICE]
        await store.write(importing.add_parts, tenant, import_id, first, batch)
    await store.write(importing.complete, tenant, import_id, read.total)
    return request.go(f"/subscribers/import/{import_id}")


async def show(tx: Tx, request: PageRequest) -> PageView:
    tenant = request.tenant
    kept = await importing.get(tx, tenant, request.at("id"))
    is_new = kept.status == "new"
    return request.view(
        "import_file.html",
        kept=kept,
        sample=await importing.first_lines(tx, tenant, kept.id, SAMPLE) if is_new else [],
        errors=await importing.errors(tx, tenant, kept.id, most=SHOWN) if kept.failed else [],
        counted=findings.in_words(await importing.count_findings(tx, tenant, kept.id)),
        findings=await importing.findings_of(tx, tenant, kept.id, most=SHOWN),
        fields=FIELDS,
        dry=msgspec.json.decode(kept.dry) if kept.dry else None,
        refusal=request.errors.get("", ""),
    )


def _mapping(request: PageRequest, columns: int) -> dict[str, int]:
    """The column of each field that has one."""
    numbers = {field: forms.whole_number(request.text(field)) for field in FIELDS}
    return {
        field: number
        for field, number in numbers.items()
        if number is not None and number < columns
    }


async def go_on(services: PageServices, request: PageRequest) -> Response:
    """Tries, starts or discards the import, as the button says."""
    store, tenant, import_id = services.store, request.tenant, request.at("id")
    kept = await store.read(importing.get, tenant, import_id)
    if request.text("do") == "forget":
        await store.write(importing.forget, tenant, import_id)
        return request.go("/subscribers/import", "File discarded.")
    if kept.status == "new":
        mapping = _mapping(request, len(kept.columns))
        gives = request.text("gives_rewards") == "1"
        await store.write(importing.choose, tenant, import_id, mapping, gives_rewards=gives)
        if request.text("do") == "start":
            await store.write(importing.start, tenant, import_id)
        else:
            await _try(services, request)
    return request.go(f"/subscribers/import/{import_id}")


async def _try(services: PageServices, request: PageRequest) -> None:
    """Counts what the import would do, one part of the file at a time, and changes nothing."""
    store, tenant, now_ms = services.store, request.tenant, request.now_ms
    kept = await store.read(importing.get, tenant, request.at("id"))
    trial, n = Trial(kept.chosen), 0
    # On SQLite, reading does not suspend: without the sleep, nobody else would be served meanwhile.
    while await store.read(importing.try_part, services.site, kept, n, trial, now_ms=now_ms):
        n += 1
        await asyncio.sleep(0)
    while await store.read(importing.try_referrers, services.site, kept, trial, now_ms=now_ms):
        await asyncio.sleep(0)
    await store.write(importing.note_dry, tenant, kept.id, trial)


async def error_file(tx: Tx, request: PageRequest) -> Response:
    kept = await importing.get(tx, request.tenant, request.at("id"))
    errors = await importing.errors(tx, request.tenant, kept.id)
    return Response(
        import_files.csv_of_refused(kept.columns, errors),
        media_type="text/csv; charset=utf-8",
        headers=attachment("not-imported.csv"),
    )
