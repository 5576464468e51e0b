"""Bringing in a file: upload, say what each column holds, try it, start it, watch it, and mend what could not be taken."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.downloads import attachment
from honeyguide.signups import import_files, importing
from honeyguide.signups.import_columns import FIELDS
from honeyguide.signups.import_files import RefusedLine
from honeyguide.signups.importing import Import
from honeyguide.store.tx import Tx

SAMPLE = 4


async def upload_form(request: PageRequest) -> Response:
    return await _upload(request)


async def _upload(request: PageRequest, status: int = 200, wrong: str = "") -> Response:
    earlier = await request.read(lambda tx: importing.of_account(tx, request.tenant))
    return await request.page("import.html", status, earlier=earlier, wrong=wrong)


async def upload(request: PageRequest) -> Response:
    try:
        if request.file is None or not request.file.filename:
            raise Invalid("Choose a file.")
        data = await request.file.read(import_files.MOST_BYTES + 1)
        header, lines = import_files.read(data)
        if not lines:
            raise Invalid("The file has a header row but no subscribers.")
    except Invalid as fault:
        return await _upload(request, 400, fault.message)
    name = request.file.filename

    async def keep(tx: Tx) -> str:
        return await importing.keep(tx, request.tenant, name, header, lines, now_ms=request.now_ms)

    return request.go(f"/subscribers/import/{await request.write(keep)}")


async def show(request: PageRequest) -> Response:
    return await _page(request)


async def _page(request: PageRequest, status: int = 200, wrong: str = "") -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        kept = await importing.get(tx, request.tenant, request.at("id"))
        return {
            "kept": kept,
            "sample": await importing.first_lines(tx, request.tenant, kept.id, SAMPLE)
            if kept.status == "new"
            else [],
            "errors": await importing.errors(tx, request.tenant, kept.id) if kept.failed else [],
        }

    found = await request.read(look)
    kept: Import = found["kept"]
    dry = msgspec.json.decode(kept.dry) if kept.dry else None
    return await request.page(
        "import_file.html", status, **found, fields=FIELDS, dry=dry, wrong=wrong
    )


def _mapping(request: PageRequest, columns: int) -> dict[str, int]:
    chosen = {}
    for field in FIELDS:
        text = request.text(field)
        if text.isascii() and text.isdigit() and len(text) < 5 and int(text) < columns:
            chosen[field] = int(text)
    return chosen


async def go_on(request: PageRequest) -> Response:
    """Tries, starts or forgets."""
    wanted = request.at("id")
    kept: Import = await request.read(lambda tx: importing.get(tx, request.tenant, wanted))
    if request.text("do") == "forget":
        await request.write(lambda tx: importing.forget(tx, request.tenant, wanted))
        return request.go("/subscribers/import", "File discarded.")
    if kept.status != "new":
        return request.go(f"/subscribers/import/{wanted}")
    mapping = _mapping(request, len(kept.columns))
    try:
        await request.write(lambda tx: importing.choose(tx, request.tenant, wanted, mapping))
    except Invalid as fault:
        return await _page(request, 400, fault.message)
    if request.text("do") == "start":
        await request.write(lambda tx: importing.start(tx, request.tenant, wanted))
    else:
        await _try(request, wanted)
    return request.go(f"/subscribers/import/{wanted}")


async def _try(request: PageRequest, wanted: str) -> None:
    kept: Import = await request.read(lambda tx: importing.get(tx, request.tenant, wanted))
    added, skipped, n = 0, 0, 0
    refused: list[RefusedLine] = []
    seen: set[str] = set()
    while True:

        async def look(tx: Tx, n: int = n) -> importing.ImportResult | None:
            return await importing.try_part(
                tx, request.services.site, kept, n, seen, now_ms=request.now_ms
            )

        outcome = await request.services.store.read(look)
        if outcome is None:
            break
        added, skipped, n = added + outcome.added, skipped + outcome.skipped, n + 1
        refused += outcome.refused
    await request.write(
        lambda tx: importing.note_dry(tx, request.tenant, wanted, added, skipped, refused)
    )


async def error_file(request: PageRequest) -> Response:
    async def look(tx: Tx) -> tuple[Import, list[RefusedLine]]:
        kept = await importing.get(tx, request.tenant, request.at("id"))
        return kept, await importing.errors(tx, request.tenant, kept.id)

    kept, errors = await request.read(look)
    headers = attachment("not-imported.csv")
    return Response(
        import_files.csv_of_refused(kept.columns, errors),
        media_type="text/csv; charset=utf-8",
        headers=headers,
    )
