"""An import that runs, part by part. The lines of a part are imported together. If that fails, each
is imported alone, so that a line that fails for whatever reason holds back no other.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import importing
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.importing import ImportPart, ImportResult
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class RunningImport(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    mapping: str


_sql = beside(__file__)
_ALL_RUNNING = _sql.value("all_running", str)
_RUNNING = _sql.query("running", RunningImport)
_NEXT_PART = _sql.query("next_part", ImportPart)
_INSERT_ERROR = _sql.command("insert_error")
_SHORTEN_PART = _sql.command("shorten_part")
_DROP_PART = _sql.command("drop_part")
_ADVANCE = _sql.command("advance")
_FINISH = _sql.command("finish")


async def running(tx: Tx, *, now_ms: int, most: int) -> list[str]:
    """Whichever has waited longest first."""
    return await tx.all(_ALL_RUNNING, most=most)


async def next_lines(tx: Tx, import_id: str) -> list[int]:
    """The numbers of the lines in the next part. None if there is none, or if all were erased."""
    found = await tx.one(_RUNNING, id=import_id)
    part = await _next_part(tx, found) if found else None
    return [line.number for line in part.lines] if part else []


async def import_lines(
    tx: Tx, import_id: str, numbers: Collection[int], *, site: Site, now_ms: int
) -> bool:
    """Imports these lines of the next part, or finishes the import if there is no part. False if
    another process is at it."""
    kept = await _lock(tx, import_id)
    if kept is None:
        return False
    part = await _next_part(tx, kept)
    if part is None:
        await tx.run(_FINISH, account_id=kept.account_id, id=kept.id, now_ms=now_ms)
        return True
    lines = [line for line in part.lines if line.number in numbers]
    mapping = msgspec.json.decode(kept.mapping, type=dict[str, int])
    tenant = Tenant(kept.account_id, kept.campaign_id)
    change = Change(tx, site, tenant, actors.job(importing.IMPORTING), now_ms)
    result = await importing.bring(change, lines, mapping)
    await _record(tx, kept, part, lines, result)
    return True


async def refuse_line(tx: Tx, import_id: str, number: int, error: Exception) -> None:
    """Records a line that failed alone."""
    kept = await _lock(tx, import_id)
    part = await _next_part(tx, kept) if kept else None
    if kept is None or part is None:
        return
    lines = [line for line in part.lines if line.number == number]
    refused = [importing.unexpected(line, error) for line in lines]
    await _record(tx, kept, part, lines, ImportResult(0, 0, refused))


async def _lock(tx: Tx, import_id: str) -> RunningImport | None:
    locked = await tx.lock(_RUNNING, "update skip locked", id=import_id)
    return locked[0] if locked else None


async def _next_part(tx: Tx, kept: RunningImport) -> ImportPart | None:
    return await tx.one(_NEXT_PART, account_id=kept.account_id, import_id=kept.id)


async def _record(
    tx: Tx, kept: RunningImport, part: ImportPart, lines: list[ImportLine], result: ImportResult
) -> None:
    """These lines are done."""
    for each in result.refused:
        await tx.put(
            _INSERT_ERROR,
            import_id=kept.id,
            line=each.line,
            account_id=kept.account_id,
            sentence=each.sentence,
            content=each.content,
        )
    part_key: dict[str, Any] = {"account_id": kept.account_id, "import_id": kept.id, "n": part.n}
    done = {line.number for line in lines}
    rest = [line for line in part.lines if line.number not in done]
    if rest:
        await tx.run(_SHORTEN_PART, lines=msgspec.json.encode(rest).decode(), **part_key)
    else:
        await tx.run(_DROP_PART, **part_key)
    await tx.run(
        _ADVANCE,
        account_id=kept.account_id,
        id=kept.id,
        done=len(done),
        added=result.added,
        skipped=result.skipped,
        failed=len(result.refused),
    )
