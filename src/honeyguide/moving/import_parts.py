"""An import that runs, part by part, once for each stage. The lines of a part are imported
together. If that fails, each is imported alone, so that a line that fails for whatever reason holds
back no other.

Where an import is at moves on in the transaction of what it did, so a process that dies at any
point leaves nothing half done, and whoever continues does nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.moving import importing, stages
from honeyguide.moving.findings import ImportFinding
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.importing import Import, ImportPart
from honeyguide.moving.stages import StageResult
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

_sql = beside(__file__, columns=Import._fields)
_ALL_RUNNING = _sql.value("all_running", str)
_RUNNING = _sql.query("running", Import)
_NEXT_PART = _sql.query("next_part", ImportPart)
_INSERT_ERRORS = _sql.command("insert_errors")
_INSERT_FINDINGS = _sql.command("insert_findings")
_ADVANCE = _sql.command("advance")
_NEXT_STAGE = _sql.command("next_stage")
_FINISH = _sql.command("finish")


async def running(tx: Tx, *, most: int) -> list[str]:
    """Whichever has waited longest first."""
    return await tx.all(_ALL_RUNNING, most=most)


async def next_lines(tx: Tx, import_id: str) -> list[int]:
    """The numbers of the lines to do next. None if a stage is over, or if all of a part were
    erased."""
    found = await tx.one(_RUNNING, id=import_id)
    part = await _next_part(tx, found) if found else None
    return [line.number for line in _left(found, part)] if found and part else []


async def import_lines(tx: Tx, import_id: str, numbers: Collection[int], *, site: Site) -> bool:
    """Imports these lines of the next part, or goes on to the next stage if there is no part. False
    if another process is at it."""
    kept = await _lock(tx, import_id)
    if kept is None:
        return False
    change = Change(tx, site, kept.tenant, actors.job(importing.IMPORTING), tx.now_ms)
    part = await _next_part(tx, kept)
    if part is None:
        await _end_stage(change, kept)
        return True
    left = _left(kept, part)
    lines = [line for line in left if line.number in numbers]
    if left and not lines:
        return True  # another process has done them meanwhile
    result = await stages.run(change, kept.plan, kept.stage, lines)
    await _record(change, kept, part, lines, result)
    return True


async def refuse_line(tx: Tx, import_id: str, number: int, error: Exception, *, site: Site) -> None:
    """Records a line that failed alone."""
    kept = await _lock(tx, import_id)
    part = await _next_part(tx, kept) if kept else None
    if kept is None or part is None:
        return
    lines = [line for line in _left(kept, part) if line.number == number]
    change = Change(tx, site, kept.tenant, actors.job(importing.IMPORTING), tx.now_ms)
    await _record(change, kept, part, lines, StageResult(refused=[(each, error) for each in lines]))


async def _lock(tx: Tx, import_id: str) -> Import | None:
    locked = await tx.lock(_RUNNING, "update skip locked", id=import_id)
    return locked[0] if locked else None


async def _next_part(tx: Tx, kept: Import) -> ImportPart | None:
    return await tx.one(_NEXT_PART, account_id=kept.account_id, import_id=kept.id, n=kept.next_part)


def _left(kept: Import, part: ImportPart) -> list[ImportLine]:
    done = kept.done_lines
    return [line for line in part.lines if line.number not in done]


async def _end_stage(change: Change, kept: Import) -> None:
    following = kept.plan.after(kept.stage)
    if following is not None:
        await change.run(_NEXT_STAGE, id=kept.id, stage=following.value)
    else:
        await change.run(_FINISH, id=kept.id)


async def _record(
    change: Change, kept: Import, part: ImportPart, lines: list[ImportLine], result: StageResult
) -> None:
    """These lines are done in this stage. The file stays, so that the result can be compared with
    it, until the import is purged."""
    await _record_problems(change, kept, result)
    done = {line.number for line in lines}
    is_whole = len(_left(kept, part)) == len(lines)
    await change.run(
        _ADVANCE,
        id=kept.id,
        done=len(done),
        added=result.added,
        skipped=result.skipped,
        failed=len(result.refused),
        next_part=part.n + 1 if is_whole else part.n,
        done_lines=_json([] if is_whole else sorted(kept.done_lines | done)),
    )


async def _record_problems(change: Change, kept: Import, result: StageResult) -> None:
    if result.refused:
        refused = [importing.refused_line(*each)._asdict() for each in result.refused]
        await change.run(_INSERT_ERRORS, import_id=kept.id, rows=refused)
    if result.findings:
        await change.run(
            _INSERT_FINDINGS,
            import_id=kept.id,
            rows=_rows(result.findings),
        )


def _rows(found: Sequence[ImportFinding]) -> list[dict[str, object]]:
    return [each._asdict() for each in dict.fromkeys(found)]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
