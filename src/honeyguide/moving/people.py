"""The first stage of an import: new subscribers, and the codes, tags, notes and IDs of everybody in
the file. Subscribers who are here already get only what they lack of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.errors import Invalid
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.imported_line import ImportedPerson
from honeyguide.referrals import codes, notes, tags
from honeyguide.referrals.codes import CodeHolder
from honeyguide.referrals.lifecycle import EmailTaken
from honeyguide.signups import signups
from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.statements import beside


class KnownSubscriber(NamedTuple):
    """A subscriber who is here."""

    id: str
    email_key: str


class OwnId(NamedTuple):
    own_id: str
    subscriber_id: str


class AddedPeople(NamedTuple):
    added: int
    skipped: int
    refused: list[tuple[ImportLine, Exception]]
    findings: list[ImportFinding]


_sql = beside(__file__)
_KNOWN = _sql.query("known", KnownSubscriber)
_TAKEN_CODES = _sql.value("taken_codes", str)
_OWN_IDS = _sql.query("own_ids", OwnId)
_ADD_OWN_IDS = _sql.command("add_own_ids")


async def add(change: Change, import_id: str, people: Sequence[ImportedPerson]) -> AddedPeople:
    try:
        return await _add(change, import_id, people)
    except EmailTaken:
        raise Again from None  # they signed up at this very moment, and a second look finds them


async def _add(change: Change, import_id: str, people: Sequence[ImportedPerson]) -> AddedPeople:
    ids = await find(change, [person.email.key for person in people])
    free = await _free_codes(change, people)
    result = AddedPeople(0, 0, [], [])
    added = 0
    for person in people:
        key = person.email.key
        if key in ids:
            continue
        new = person.new
        if new.ref_code is not None and new.ref_code not in free:
            new = msgspec.structs.replace(new, ref_code=None)
        free.discard(new.ref_code or "")
        # A change of its own: what follows from one line is not what follows from the next.
        own = Change(change.tx, change.site, change.tenant, change.actor, change.now_ms)
        try:
            ids[key] = (await signups.sign_up(own, new, email=person.email)).id
            added += 1
        except EmailTaken:
            raise
        except Invalid as fault:
            result.refused.append((person.line, fault))
    await change.tx.flush()  # an address that was taken meanwhile is found here, not at the commit
    here = [person for person in people if person.email.key in ids]
    tagged = {person.email.key: person.tags for person in here if person.tags}
    if tagged:
        await tags.add_by_email(change.tx, change.tenant, tagged, now_ms=change.now_ms)
    noted = [(ids[person.email.key], person.note) for person in here if person.note]
    if noted:
        await notes.add_once(change.tx, change.tenant, noted, now_ms=change.now_ms)
    for person in here:
        result.findings.extend(person.findings)
    result.findings.extend(await _adopt_codes(change, here, ids))
    result.findings.extend(await _keep_own_ids(change, import_id, here, ids))
    skipped = len(people) - added - len(result.refused)
    return result._replace(added=added, skipped=skipped)


async def find(change: Change, keys: Sequence[str]) -> dict[str, str]:
    """The ids of those who are here, by the key of their email address."""
    return {each.email_key: each.id for each in await change.all(_KNOWN, keys=list(keys))}


async def _free_codes(change: Change, people: Sequence[ImportedPerson]) -> set[str]:
    """Those of the codes of ours in the file that nobody in this installation has."""
    ours = {person.new.ref_code for person in people if person.new.ref_code is not None}
    if not ours:
        return set()
    taken = await change.all(_TAKEN_CODES, codes=list(ours))
    return ours - set(taken) - set(await codes.taken(change, ours))


async def _adopt_codes(
    change: Change, people: Sequence[ImportedPerson], ids: dict[str, str]
) -> list[ImportFinding]:
    holders = [
        (CodeHolder(code, ids[person.email.key]), person.line.number)
        for person in people
        for code in person.codes
    ]
    if not holders:
        return []
    refused = set(await codes.adopt(change, [holder for holder, _ in holders]))
    lines = {line for holder, line in holders if holder in refused}
    return [ImportFinding(line, FindingKind.DUPLICATE_CODE) for line in sorted(lines)]


async def _keep_own_ids(
    change: Change, import_id: str, people: Sequence[ImportedPerson], ids: dict[str, str]
) -> list[ImportFinding]:
    having = [(person, person.own_id) for person in people if person.own_id is not None]
    if not having:
        return []
    held = await find_own_ids(change, import_id, [own_id for _, own_id in having])
    rows: list[dict[str, Any]] = []
    findings = []
    for person, own_id in having:
        subscriber_id = ids[person.email.key]
        if own_id not in held:
            held[own_id] = subscriber_id
            rows.append({"own_id": own_id, "subscriber_id": subscriber_id})
        elif held[own_id] != subscriber_id:
            findings.append(ImportFinding(person.line.number, FindingKind.DUPLICATE_ID))
    await change.run(_ADD_OWN_IDS, import_id=import_id, rows=rows)
    return findings


async def find_own_ids(change: Change, import_id: str, own_ids: Sequence[str]) -> dict[str, str]:
    """Who has which ID in the tool that the file is from."""
    found = await change.all(_OWN_IDS, import_id=import_id, own_ids=list(own_ids))
    return {each.own_id: each.subscriber_id for each in found}
