"""Bringing in a file: upload, say what each column holds, try it, start it, watch it, and mend what could not be taken."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.pages.downloads import attachment
from honeyguide.partners import importing
from honeyguide.partners.import_columns import FIELDS
from honeyguide.partners.importing import Import, Refused
from honeyguide.store.tx import Tx

SAMPLE = 4


async def upload_form(visit: Visit) -> Response:
    return await _upload(visit)


async def _upload(visit: Visit, status: int = 200, wrong: str = "") -> Response:
    earlier = await visit.read(lambda tx: importing.of_account(tx, visit.owner))
    return await visit.page("import.html", status, earlier=earlier, wrong=wrong)


async def upload(visit: Visit) -> Response:
    try:
        if visit.file is None or not visit.file.filename:
            raise Invalid("Choose a file.")
        data = await visit.file.read(importing.MOST_BYTES + 1)
        header, lines = importing.read(data)
        if not lines:
            raise Invalid("The file has a header row but no subscribers.")
    except Invalid as fault:
        return await _upload(visit, 400, fault.message)
    name = visit.file.filename

    async def keep(tx: Tx) -> str:
        return await importing.keep(tx, visit.owner, name, header, lines, now_ms=visit.now_ms)

    return visit.go(f"/subscribers/import/{await visit.write(keep)}")


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def _page(visit: Visit, status: int = 200, wrong: str = "") -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        kept = await importing.get(tx, visit.owner, visit.at("id"))
        return {
            "kept": kept,
            "sample": await importing.first_lines(tx, visit.owner, kept.id, SAMPLE) if kept.status == "new" else [],
            "errors": await importing.errors(tx, visit.owner, kept.id) if kept.failed else [],
        }

    found = await visit.read(look)
    kept: Import = found["kept"]
    dry = msgspec.json.decode(kept.dry) if kept.dry else None
    return await visit.page("import_file.html", status, **found, fields=FIELDS, dry=dry, wrong=wrong)


def _mapping(visit: Visit, columns: int) -> dict[str, int]:
    chosen = {}
    for field in FIELDS:
        text = visit.text(field)
        if text.isascii() and text.isdigit() and len(text) < 5 and int(text) < columns:
            chosen[field] = int(text)
    return chosen


async def go_on(visit: Visit) -> Response:
    """Tries, starts or forgets."""
    wanted = visit.at("id")
    kept: Import = await visit.read(lambda tx: importing.get(tx, visit.owner, wanted))
    if visit.text("do") == "forget":
        await visit.write(lambda tx: importing.forget(tx, visit.owner, wanted))
        return visit.go("/subscribers/import", "File discarded.")
    if kept.status != "new":
        return visit.go(f"/subscribers/import/{wanted}")
    mapping = _mapping(visit, len(kept.columns))
    try:
        await visit.write(lambda tx: importing.choose(tx, visit.owner, wanted, mapping))
    except Invalid as fault:
        return await _page(visit, 400, fault.message)
    if visit.text("do") == "start":
        await visit.write(lambda tx: importing.start(tx, visit.owner, wanted))
    else:
        await _try(visit, wanted)
    return visit.go(f"/subscribers/import/{wanted}")


async def _try(visit: Visit, wanted: str) -> None:
    kept: Import = await visit.read(lambda tx: importing.get(tx, visit.owner, wanted))
    added, skipped, n = 0, 0, 0
    refused: list[Refused] = []
    seen: set[str] = set()
    while True:

        async def look(tx: Tx, n: int = n) -> importing.Outcome | None:
            return await importing.try_part(tx, visit.desk.site, kept, n, seen, now_ms=visit.now_ms)

        outcome = await visit.desk.store.read(look)
        if outcome is None:
            break
        added, skipped, n = added + outcome.added, skipped + outcome.skipped, n + 1
        refused += outcome.refused
    await visit.write(lambda tx: importing.note_dry(tx, visit.owner, wanted, added, skipped, refused))


async def error_file(visit: Visit) -> Response:
    async def look(tx: Tx) -> tuple[Import, list[Refused]]:
        kept = await importing.get(tx, visit.owner, visit.at("id"))
        return kept, await importing.errors(tx, visit.owner, kept.id)

    kept, errors = await visit.read(look)
    headers = attachment("not-imported.csv")
    return Response(importing.csv_to_mend(kept.columns, errors), media_type="text/csv; charset=utf-8", headers=headers)
