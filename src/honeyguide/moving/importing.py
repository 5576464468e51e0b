"""Imports a file of subscribers: read with any column names, tried first, then imported part by
part (`import_parts`). Lines that are refused come back as a file with the reasons. Signups go
through `signups.sign_up`, as over the API.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel import actors
from honeyguide.kernel.clock import AHEAD_MS, DAY_MS, parse
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import import_columns, import_files
from honeyguide.moving.import_files import ImportLine, RefusedLine, parts
from honeyguide.referrals import tags
from honeyguide.referrals.lifecycle import EmailTaken, NewSubscriber
from honeyguide.referrals.origins import Origin
from honeyguide.signups import signups
from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.imports")

MOST_ERRORS = 10_000
# Files that were not imported and lines that failed are about people who never joined.
KEPT_MS = 30 * DAY_MS
# The job.
IMPORTING = "import uploaded files"
PURGE_BATCH = 5
UNEXPECTED = "Something went wrong on our side. It has been logged. Import this line again later."
# Parts stored in one transaction.
SLICE = 1_000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SPACED = re.compile(
    r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?( ?UTC|Z)?", re.ASCII
)


class Import(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    file_name: str
    header: str
    mapping: str
    status: str
    total: int
    done: int
    added: int
    skipped: int
    failed: int
    dry: str | None
    created_ms: int
    finished_ms: int | None

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    @property
    def columns(self) -> list[str]:
        return msgspec.json.decode(self.header, type=list[str])

    @property
    def chosen(self) -> dict[str, int]:
        return msgspec.json.decode(self.mapping, type=dict[str, int])

    @property
    def uses(self) -> list[import_columns.Column]:
        return import_columns.uses(self.columns, self.chosen)

    @property
    def losses(self) -> str:
        return import_columns.losses(self.columns, self.chosen)


class ImportPart(NamedTuple):
    n: int
    content: str

    @property
    def lines(self) -> list[ImportLine]:
        return [ImportLine(*each) for each in msgspec.json.decode(self.content)]


class ImportResult(NamedTuple):
    added: int
    skipped: int
    refused: list[RefusedLine]


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_COMPLETE = _sql.command("complete")
_INSERT_PART = _sql.command("insert_part")
_BY_ID = _sql.query("by_id", Import)
_OF_ACCOUNT = _sql.query("of_account", Import)
_PART_AT = _sql.query("part_at", ImportPart)
_ERRORS = _sql.query("errors", RefusedLine)
_SET_MAPPING = _sql.command("set_mapping")
_SET_DRY = _sql.command("set_dry")
_START = _sql.command("start")
_DELETE = _sql.command("delete")
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")
_TAKEN = _sql.value("taken", str)


class UploadedFile(NamedTuple):
    header: list[str]
    mapping: dict[str, int]
    parts: list[str]  # as they are stored
    total: int


def read_file(data: bytes) -> UploadedFile:
    """Reads an uploaded file. For a thread: 20 MB take seconds."""
    header, lines = import_files.read(data)
    if not lines:
        raise Invalid("The file has a header row but no subscribers.")
    mapping = import_columns.guess(header, lines)
    return UploadedFile(header, mapping, [_json(batch) for batch in parts(lines)], len(lines))


async def begin(
    tx: Tx,
    tenant: Tenant,
    file_name: str,
    header: list[str],
    mapping: dict[str, int],
    *,
    now_ms: int,
) -> str:
    """A new import, which nobody sees before it is complete: a large file is stored in several
    transactions, because the others wait for each."""
    import_id = new_id()
    await tx.run(
        _INSERT,
        id=import_id,
        account_id=tenant.account_id,
        campaign_id=tenant.campaign_id,
        file_name=file_name[:255],
        header=_json(header),
        mapping=_json(mapping),
        now_ms=now_ms,
    )
    return import_id


async def add_parts(tx: Tx, tenant: Tenant, import_id: str, first: int, batch: list[str]) -> None:
    for n, lines in enumerate(batch, first):
        await tx.run(
            _INSERT_PART, import_id=import_id, n=n, account_id=tenant.account_id, lines=lines
        )


async def complete(tx: Tx, tenant: Tenant, import_id: str, total: int) -> None:
    await tx.run(_COMPLETE, account_id=tenant.account_id, id=import_id, total=total)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def get(tx: Tx, tenant: Tenant, import_id: str) -> Import:
    found = (
        await tx.one(_BY_ID, account_id=tenant.account_id, id=import_id)
        if is_id(import_id)
        else None
    )
    if found is None:
        raise Missing("There is no such import.")
    return found


async def of_account(tx: Tx, tenant: Tenant) -> list[Import]:
    return await tx.all(_OF_ACCOUNT, account_id=tenant.account_id)


async def errors(tx: Tx, tenant: Tenant, import_id: str) -> list[RefusedLine]:
    return await tx.all(
        _ERRORS, account_id=tenant.account_id, import_id=import_id, most=MOST_ERRORS
    )


async def first_lines(tx: Tx, tenant: Tenant, import_id: str, most: int) -> list[list[str]]:
    part = await tx.one(_PART_AT, account_id=tenant.account_id, import_id=import_id, n=0)
    return [line.cells for line in part.lines[:most]] if part else []


async def choose(tx: Tx, tenant: Tenant, import_id: str, mapping: dict[str, int]) -> None:
    if "email" not in mapping:
        raise Required("email", "Choose the column that contains the email address.")
    await tx.run(_SET_MAPPING, account_id=tenant.account_id, id=import_id, mapping=_json(mapping))


async def start(tx: Tx, tenant: Tenant, import_id: str) -> None:
    await tx.run(_START, account_id=tenant.account_id, id=import_id)


async def forget(tx: Tx, tenant: Tenant, import_id: str) -> None:
    await tx.run(_DELETE, account_id=tenant.account_id, id=import_id)


# Deletes a few old imports with what is left of their files.
purge = Purge(_OLD, _PURGE, lambda now_ms: {"expired_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)


def _moment(text: str | None, now_ms: int) -> str | None:
    """Dates as tools write them; what the API takes is taken too."""
    if text is None:
        return None
    if _DAY.fullmatch(text):
        text = f"{text}T00:00:00Z"
    elif (spaced := _SPACED.fullmatch(text)) is not None:
        clock = spaced[2] if len(spaced[2]) == 8 else f"{spaced[2]}:00"
        text = f"{spaced[1]}T{clock}Z"
    if parse(text, param="created_at") > now_ms + AHEAD_MS:
        raise Invalid("{field} is in the future.", param="created_at")
    return text


class ImportedPerson(NamedTuple):
    line: ImportLine
    email: EmailAddress
    new: NewSubscriber
    tags: list[str]


def _person(line: ImportLine, mapping: dict[str, int], now_ms: int) -> ImportedPerson:
    def cell(field: str) -> str | None:
        return import_columns.cell(line.cells, mapping, field)

    text = cell("email")
    if text is None:
        raise Required("email", "This line has no email address.")
    email = EmailAddress.parse(text)
    new = NewSubscriber(
        email=email.text,
        name=import_columns.name(line.cells, mapping),
        referrer_code=cell("referrer_code"),
        utm_source=cell("utm_source"),
        utm_campaign=cell("utm_campaign"),
        created_at=_moment(cell("created_at"), now_ms),
        origin=Origin.IMPORT,
        status=import_columns.status(line.cells, mapping),
    )
    return ImportedPerson(line, email, new, tags.split_tags(cell("tags") or ""))


async def bring(
    change: Change,
    lines: Sequence[ImportLine],
    mapping: dict[str, int],
    *,
    dry: bool = False,
    seen: set[str] | None = None,
) -> ImportResult:
    """Imports one part. Subscribers who are already here only get the line's tags; a line that is
    refused does not stop the others."""
    try:
        return await _bring(change, lines, mapping, dry=dry, seen=seen)
    except EmailTaken:
        raise Again from None  # they signed up at this very moment, and a second look finds them


async def _bring(
    change: Change,
    lines: Sequence[ImportLine],
    mapping: dict[str, int],
    *,
    dry: bool,
    seen: set[str] | None,
) -> ImportResult:
    people: list[ImportedPerson] = []
    refused = []
    for line in lines:
        try:
            people.append(_person(line, mapping, change.now_ms))
        except Invalid as fault:
            refused.append(_refused(line, fault))
        except Exception as error:
            refused.append(unexpected(line, error))
    keys = [person.email.key for person in people]
    here = set(await change.all(_TAKEN, keys=keys)) | (seen if seen is not None else set())
    added = skipped = 0
    for person, key in zip(people, keys, strict=True):
        if key in here:
            skipped += 1
            continue
        here.add(key)
        if seen is not None:
            seen.add(key)
        try:
            if not dry:
                # A change of its own: what follows from one line is not what follows from the next.
                own = Change(change.tx, change.site, change.tenant, change.actor, change.now_ms)
                await signups.sign_up(own, person.new, email=person.email)
            added += 1
        except EmailTaken:
            raise
        except Invalid as fault:
            refused.append(_refused(person.line, fault))
    await change.tx.flush()  # an address that was taken meanwhile is found here, not at the commit
    tagged = {person.email.key: person.tags for person in people if person.tags}
    if tagged and not dry:
        await tags.add_by_email(change.tx, change.tenant, tagged, now_ms=change.now_ms)
    return ImportResult(added, skipped, refused)


def _refused(line: ImportLine, fault: Invalid) -> RefusedLine:
    sentence = fault.message_for(import_columns.FIELDS.get(fault.param or "", fault.param))
    return RefusedLine(line.number, sentence, _json(line.cells))


def unexpected(line: ImportLine, error: Exception) -> RefusedLine:
    """A line that fails for a reason that we did not think of. The log must not name the person."""
    log.error("Line %d of an import failed: %s", line.number, type(error).__name__, exc_info=error)
    return RefusedLine(line.number, UNEXPECTED, _json(line.cells))


async def try_part(
    tx: Tx, site: Site, kept: Import, n: int, seen: set[str], *, now_ms: int
) -> ImportResult | None:
    """What part `n` would come to; None past the last."""
    part = await tx.one(_PART_AT, account_id=kept.account_id, import_id=kept.id, n=n)
    if part is None:
        return None
    change = Change(tx, site, kept.tenant, actors.job(IMPORTING), now_ms)
    return await bring(change, part.lines, kept.chosen, dry=True, seen=seen)


async def note_dry(
    tx: Tx, tenant: Tenant, import_id: str, added: int, skipped: int, refused: list[RefusedLine]
) -> None:
    # Without the lines themselves: this is kept, and an erasure would have to find it.
    first = [{"line": each.line, "sentence": each.sentence} for each in refused[:20]]
    summary = {"added": added, "skipped": skipped, "failed": len(refused), "first": first}
    await tx.run(_SET_DRY, account_id=tenant.account_id, id=import_id, dry=_json(summary))
