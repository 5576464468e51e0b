"""Imports of files of subscribers: read with any column names, tried first (`trial`), then imported
part by part (`import_parts`) in several stages (`stages`). Lines that are refused come back as a
file with the reasons. What was taken over otherwise than the file has it is a finding.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import findings, sources, uploaded_files
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import ImportLine, RefusedLine, parts
from honeyguide.moving.source_columns import FIELDS
from honeyguide.moving.sources import ColumnUse, ImportSource
from honeyguide.moving.stages import ImportPlan, Stage
from honeyguide.moving.trial import Trial
from honeyguide.moving.uploaded_files import UploadedFile
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.imports")

MOST_ERRORS = 10_000
# Files that were not imported and lines that failed are about people who never joined. Files that
# were imported are kept as long, to compare the result with them.
KEPT_MS = 30 * DAY_MS
# The job.
IMPORTING = "import uploaded files"
PURGE_BATCH = 5
UNEXPECTED = "Something went wrong on our side. It has been logged. Import this line again later."
# Lines that a preview shows of those with a problem.
SHOWN = 20


class Import(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    file_name: str
    header: list[str]
    mapping: dict[str, int]
    status: str
    total: int
    done: int
    added: int
    skipped: int
    failed: int
    dry: str | None
    created_ms: int
    finished_ms: int | None
    stage: Stage
    gives_rewards: bool
    source: str
    dates: DateOrder
    """What the lines of the file show."""
    date_choice: DateOrder
    next_part: int
    done_lines: set[int]
    """Those of the next part that are done in this stage."""

    @property
    def plan(self) -> ImportPlan:
        order = self.date_choice if self.dates.is_open else self.dates
        return ImportPlan(
            self.id,
            uploaded_files.line_format(self.tool, self.header, self.mapping, order),
            self.file_name if self.tool is ImportSource.ANY else self.tool.facts.name,
            self.gives_rewards,
        )

    @property
    def tool(self) -> ImportSource:
        """Where the file is from."""
        return uploaded_files.find_source(self.source)

    @property
    def step(self) -> str:
        """Which stage it is at, of how many: "Step 2 of 3: Connecting referrers"."""
        stages, stage = self.plan.stages, self.stage
        at = stages.index(stage) + 1 if stage in stages else 1
        return f"Step {at} of {len(stages)}: {stage.label}"

    @property
    def steps_done(self) -> int:
        """Lines done in all stages."""
        stages, stage = self.plan.stages, self.stage
        return (stages.index(stage) if stage in stages else 0) * self.total + self.done

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    @property
    def uses(self) -> list[ColumnUse]:
        return sources.uses(self.tool, self.header, self.mapping)


class ImportPart(NamedTuple):
    n: int
    lines: list[ImportLine]


_sql = beside(__file__, columns=Import._fields)
_INSERT = _sql.command("insert")
_COMPLETE = _sql.command("complete")
_INSERT_PART = _sql.command("insert_part")
_BY_ID = _sql.query("by_id", Import)
_OF_ACCOUNT = _sql.query("of_account", Import)
_PART_AT = _sql.query("part_at", ImportPart)
_ERRORS = _sql.query("errors", RefusedLine)
_SET_MAPPING = _sql.command("set_mapping")
_SET_SOURCE = _sql.command("set_source")
_SET_DRY = _sql.command("set_dry")
_START = _sql.command("start")
_DELETE = _sql.command("delete")
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")
_FINDINGS = _sql.query("findings", ImportFinding)
_COUNT_FINDINGS = _sql.query(
    "count_findings", lambda kind, number: (FindingKind(kind), int(number))
)


def as_stored(lines: list[ImportLine]) -> list[str]:
    """The parts of a file."""
    return [_json(batch) for batch in parts(lines)]


async def begin(
    change: Change,
    file_name: str,
    header: list[str],
    mapping: dict[str, int],
    *,
    source: ImportSource = ImportSource.ANY,
    dates: DateOrder = DateOrder.ISO,
) -> str:
    """A new import, which nobody sees before it is complete: a large file is stored in several
    transactions, because the others wait for each."""
    import_id = new_id()
    await change.run(
        _INSERT,
        id=import_id,
        file_name=file_name[:255],
        header=_json(header),
        mapping=_json(mapping),
        source=source.value,
        dates=dates.value,
    )
    return import_id


async def add_parts(change: Change, import_id: str, first: int, batch: list[str]) -> None:
    for n, lines in enumerate(batch, first):
        await change.run(_INSERT_PART, import_id=import_id, n=n, lines=lines)


async def complete(change: Change, import_id: str, total: int) -> None:
    await change.run(_COMPLETE, id=import_id, total=total)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def get(at: Reading, import_id: str) -> Import:
    found = await at.one(_BY_ID, id=import_id) if is_id(import_id) else None
    if found is None:
        raise Missing("There is no such import.")
    return found


async def of_account(at: Reading) -> list[Import]:
    return await at.all(_OF_ACCOUNT)


async def errors(at: Reading, import_id: str, *, most: int = MOST_ERRORS) -> list[RefusedLine]:
    return await at.all(_ERRORS, import_id=import_id, most=most)


async def findings_of(at: Reading, import_id: str, *, most: int) -> list[ImportFinding]:
    """In the order of the lines."""
    return await at.all(_FINDINGS, import_id=import_id, most=most)


async def count_findings(at: Reading, import_id: str) -> dict[FindingKind, int]:
    return dict(await at.all(_COUNT_FINDINGS, import_id=import_id))


async def lines_of(at: Reading, import_id: str, n: int) -> list[ImportLine] | None:
    """The lines of part `n`; None past the last."""
    part = await at.one(_PART_AT, import_id=import_id, n=n)
    return part.lines if part else None


async def first_lines(at: Reading, import_id: str, most: int) -> list[list[str]]:
    part = await at.one(_PART_AT, import_id=import_id, n=0)
    return [line.cells for line in part.lines[:most]] if part else []


async def choose(
    change: Change,
    import_id: str,
    mapping: dict[str, int],
    *,
    gives_rewards: bool = False,
    date_choice: DateOrder = DateOrder.DAY_FIRST,
) -> None:
    if "email" not in mapping:
        raise Required("email", "Choose the column that contains the email address.")
    await change.run(
        _SET_MAPPING,
        id=import_id,
        mapping=_json(mapping),
        gives_rewards=int(gives_rewards),
        date_choice=date_choice.value,
    )


async def understand(change: Change, import_id: str, file: UploadedFile) -> None:
    """Stores where the file is from, and what its columns and dates mean then."""
    await change.run(
        _SET_SOURCE,
        id=import_id,
        source=file.source.value,
        mapping=_json(file.mapping),
        dates=file.dates.value,
    )


async def start(change: Change, import_id: str) -> None:
    await change.run(_START, id=import_id)


async def forget(change: Change, import_id: str) -> None:
    await change.run(_DELETE, id=import_id)


# Deletes a few old imports with what is left of their files.
purge = Purge(_OLD, _PURGE, lambda now_ms: {"expired_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)


def refused_line(line: ImportLine, error: Exception) -> RefusedLine:
    """The line and the reason, as the operator gets them. If it is one that we did not think of, it
    is logged; the log must not name the person."""
    if isinstance(error, Invalid):
        sentence = error.message_for(FIELDS.get(error.param or "", error.param))
        return RefusedLine(line.number, sentence, _json(line.cells))
    log.error("Line %d of an import failed: %s", line.number, type(error).__name__, exc_info=error)
    return RefusedLine(line.number, UNEXPECTED, _json(line.cells))


async def try_part(tx: Tx, site: Site, kept: Import, n: int, trial: Trial) -> bool:
    """Adds part `n` to the trial. False past the last."""
    part = await tx.one(_PART_AT, account_id=kept.account_id, import_id=kept.id, n=n)
    if part is None:
        return False
    await trial.add(_change(tx, site, kept, tx.now_ms), part.lines)
    return True


async def try_referrers(tx: Tx, site: Site, kept: Import, trial: Trial) -> bool:
    """Some of the referrers, after all parts. False after the last."""
    return await trial.check_referrers(_change(tx, site, kept, tx.now_ms))


def _change(tx: Tx, site: Site, kept: Import, now_ms: int) -> Change:
    return Change(tx, site, kept.tenant, actors.job(IMPORTING), now_ms)


async def note_dry(change: Change, import_id: str, trial: Trial) -> None:
    # Without the lines themselves: this is kept, and an erasure would have to find it.
    refused = [refused_line(*each) for each in trial.refused[:SHOWN]]
    summary = {
        "added": trial.added,
        "skipped": trial.skipped,
        "failed": len(trial.refused),
        "first": [{"line": each.line, "sentence": each.sentence} for each in refused],
        "findings": findings.in_words(trial.counted),
        "found": trial.found,
        "counted": trial.counted,
        "first_findings": [
            {"line": each.line, "sentence": each.sentence} for each in trial.findings[:SHOWN]
        ],
    }
    await change.run(_SET_DRY, id=import_id, dry=_json(summary))
