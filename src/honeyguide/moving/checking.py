"""Compares an import with its file, part by part, and signs what was found. Where it is at moves on
with what was found, so a process that dies leaves nothing half counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel import actors
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import (
    certificate,
    comparing,
    imported_line,
    importing,
    installation_key,
    old_links,
    referrers,
    signed_documents,
)
from honeyguide.moving.certificate import LineNumbers, MoveFacts, Tally
from honeyguide.moving.comparing import LineFacts, PersonHere
from honeyguide.moving.findings import FindingKind
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.importing import Import, ImportPart
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns

CHECKING = "compare imports with their files"
UNKNOWN = "There is no such certificate."


class Certificate(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    import_id: str
    next_part: int
    tally: Tally
    document: str
    started_ms: int
    made_ms: int | None

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    @property
    def content(self) -> dict[str, Any]:
        """What the document says, once it is made."""
        content: dict[str, Any] = msgspec.json.decode(self.document)["content"]
        return content

    @property
    def fingerprint(self) -> str:
        return str(msgspec.json.decode(self.document)["fingerprint"])


class ComparedPart(NamedTuple):
    """`n` is None past the last part."""

    n: int | None
    tally: Tally


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_RUNNING = _sql.value("running", str)
_BY_RUNNING_ID = _sql.query("by_running_id", Certificate)
_BY_ID = _sql.query("by_id", Certificate)
_NEWEST_OF_IMPORT = _sql.query("newest_of_import", Certificate)
_OF_ACCOUNT = _sql.query("of_account", Certificate)
_NEXT_PART = _sql.query("next_part", ImportPart)
_ADVANCE = _sql.command("advance")
_FINISH = _sql.command("finish")
_DELETE = _sql.command("delete")
_PEOPLE = _sql.query("people", PersonHere)
_REPORTED = _sql.query("reported", lambda line, kind: (int(line), FindingKind(kind)))
_REFUSED = _sql.value("refused", int)


async def begin(change: Change, import_id: str) -> str:
    """The id of the check, which a job goes on with. One that runs already is returned."""
    kept = await importing.get(change, import_id)
    if kept.status != "done":
        raise Invalid("This import is not done yet. Check it when it is.")
    latest = await newest_of_import(change, import_id)
    if latest is not None and latest.made_ms is None:
        return latest.id
    if await _next_part(change, import_id, 0) is None:
        raise Invalid(
            "The file of this import is no longer kept, so there is nothing to compare with. "
            "Import the file again, which changes nothing, and check that."
        )
    check_id = new_id()
    await change.run(
        _INSERT,
        id=check_id,
        import_id=import_id,
        tally=_json(Tally()),
    )
    return check_id


async def running(tx: Tx, *, most: int) -> list[str]:
    return await tx.all(_RUNNING, most=most)


async def find_running(tx: Tx, check_id: str) -> Certificate | None:
    return await tx.one(_BY_RUNNING_ID, id=check_id)


async def get(at: Reading, check_id: str) -> Certificate:
    found = await at.one(_BY_ID, id=check_id) if is_id(check_id) else None
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def get_made(at: Reading, check_id: str) -> Certificate:
    found = await get(at, check_id)
    if found.made_ms is None:
        raise Missing(UNKNOWN)
    return found


async def newest_of_import(at: Reading, import_id: str) -> Certificate | None:
    return await at.one(_NEWEST_OF_IMPORT, import_id=import_id)


async def of_account(at: Reading, *, most: int = 20) -> list[Certificate]:
    """Those that are made, the newest first."""
    return await at.all(_OF_ACCOUNT, most=most)


async def compare_part(tx: Tx, site: Site, check: Certificate) -> ComparedPart:
    """What was found with the next part. Nothing is written."""
    tally = deepcopy(check.tally)
    change = Change(tx, site, check.tenant, actors.job(CHECKING), tx.now_ms)
    part = await _next_part(change, check.import_id, check.next_part)
    if part is None:
        return ComparedPart(None, tally)
    kept = await importing.get(change, check.import_id)
    await _compare_lines(change, kept, part.lines, tally)
    return ComparedPart(part.n, tally)


async def record(tx: Tx, check: Certificate, compared: ComparedPart) -> None:
    assert compared.n is not None
    await tx.run(
        _ADVANCE,
        account_id=check.account_id,
        id=check.id,
        n=check.next_part,
        next_part=compared.n + 1,
        tally=_json(compared.tally),
    )


async def finish(tx: Tx, site: Site, check: Certificate, secret_keys: Sequence[bytes]) -> None:
    """Signs the document."""
    change = Change(tx, site, check.tenant, actors.job(CHECKING), tx.now_ms)
    kept = await importing.get(change, check.import_id)
    document = signed_documents.sign(
        await installation_key.get_or_make(tx, secret_keys),
        kind=certificate.KIND,
        issuer=site.base_url,
        issued_ms=tx.now_ms,
        content=certificate.content(
            check.tally,
            MoveFacts(
                newsletter=(await campaigns.get(change)).name,
                source=kept.tool.facts.name,
                total=kept.total,
                started_at=iso(kept.created_ms),
                finished_at=iso(_ended_ms(kept, tx.now_ms)),
                not_tried=(await old_links.of_source(change, kept.tool)).not_tried,
                reported=await _all_reported(change, kept),
            ),
        ),
    )
    await change.run(
        _FINISH,
        id=check.id,
        document=document.decode(),
    )


async def forget(tx: Tx, check: Certificate) -> None:
    """A check whose import was deleted meanwhile."""
    await tx.run(_DELETE, account_id=check.account_id, id=check.id)


async def _next_part(at: Reading, import_id: str, n: int) -> ImportPart | None:
    return await at.one(_NEXT_PART, import_id=import_id, n=n)


def _ended_ms(kept: Import, now_ms: int) -> int:
    return now_ms if kept.finished_ms is None else kept.finished_ms


async def _compare_lines(
    change: Change, kept: Import, lines: Sequence[ImportLine], tally: Tally
) -> None:
    tally.lines += len(lines)
    if not lines:
        return
    span: dict[str, Any] = {
        "import_id": kept.id,
        "first": min(line.number for line in lines),
        "last": max(line.number for line in lines),
    }
    refused = set(await change.all(_REFUSED, **span))
    reported: dict[int, set[FindingKind]] = {}
    for number, kind in await change.all(_REPORTED, **span):
        reported.setdefault(number, set()).add(kind)
    read = imported_line.read(lines, kept.plan.form, change.now_ms)
    for line, _ in read.refused:
        _count_refused(tally, line.number, refused)
    people = [person for person in read.people if person.line.number not in refused]
    tally.refused += len(read.people) - len(people)
    here = await _find_people(change, kept, [person.email.key for person in people])
    ids = [each.id for each in here.values()]
    earned = await earned_rewards.earned_by_each(change, ids)
    names = [person.referrer for person in people if person.referrer]
    named = await referrers.find_named(change, kept.id, names) if names else {}
    old = await old_links.of_source(change, kept.tool)
    in_lines = (code for person in people for code in person.codes)
    followed = await old_links.follow_all(change, old, in_lines)
    offered = await change.fact(rewards.of_campaign)
    seen = set[str]()
    for person in people:
        subscriber = here.get(person.email.key)
        facts = LineFacts(
            reported=reported.get(person.line.number, ()),
            named_id=named.get(person.referrer or ""),
            links=followed.of(person.codes),
            offered=[each for each in offered if each.created_ms <= _ended_ms(kept, change.now_ms)],
            earned=earned.get(subscriber.id, []) if subscriber else [],
            began_ms=kept.created_ms,
            is_first=person.email.key not in seen,
        )
        seen.add(person.email.key)
        comparing.compare(tally, person, subscriber, facts)


def _count_refused(tally: Tally, line: int, refused: set[int]) -> None:
    if line in refused:
        tally.refused += 1
    else:
        tally.note(certificate.CheckKind.PERSON_MISSING, line)


async def _find_people(change: Change, kept: Import, keys: list[str]) -> dict[str, PersonHere]:
    found = await change.all(
        _PEOPLE, keys=keys, began_ms=kept.created_ms, ended_ms=_ended_ms(kept, change.now_ms)
    )
    return {each.email_key: each for each in found}


async def _all_reported(at: Reading, kept: Import) -> dict[FindingKind, LineNumbers]:
    found: dict[FindingKind, LineNumbers] = {}
    whole: dict[str, Any] = {"import_id": kept.id, "first": 0, "last": 2**53}
    for line, kind in await at.all(_REPORTED, **whole):
        found.setdefault(kind, LineNumbers()).add(line)
    return {kind: found[kind] for kind in FindingKind if kind in found}


def _json(tally: Tally) -> str:
    return msgspec.json.encode(tally).decode()
