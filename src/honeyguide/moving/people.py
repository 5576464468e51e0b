"""The first stage of an import: new subscribers, and the codes, tags, notes and IDs of everybody in
the file, and from our own export also consents and earned rewards. Subscribers who are here already
get only what they lack of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import given_rewards
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.imported_line import ImportedPerson
from honeyguide.rewards import rewards, rewards_elsewhere
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import EmailTaken
from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers import codes, consents, notes, tags
from honeyguide.subscribers.codes import CodeHolder
from honeyguide.subscribers.notes import ImportedNote


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
_LOCK = _sql.value("lock", str)


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
        await tags.add_by_email(change, tagged)
    await _add_notes(change, here, ids)
    for person in here:
        result.findings.extend(person.findings)
    result.findings.extend(await _adopt_codes(change, here, ids))
    result.findings.extend(await _keep_own_ids(change, import_id, here, ids))
    result.findings.extend(await _restore(change, here, ids))
    skipped = len(people) - added - len(result.refused)
    return result._replace(added=added, skipped=skipped)


async def _add_notes(change: Change, people: Sequence[ImportedPerson], ids: dict[str, str]) -> None:
    noted = [
        (ids[person.email.key], note)
        for person in people
        for note in [*person.notes, *([ImportedNote(person.note)] if person.note else [])]
    ]
    if noted:
        await notes.add_once(change, noted)


async def _restore(
    change: Change, people: Sequence[ImportedPerson], ids: dict[str, str]
) -> list[ImportFinding]:
    """What another installation of ours knows about them."""
    having = [person for person in people if person.consents or person.earned]
    if not having:
        return []
    # Locked, so that nothing is added to somebody who is erased at the same moment.
    locked = set(await change.lock(_LOCK, ids=[ids[person.email.key] for person in having]))
    theirs = [(ids[person.email.key], person) for person in having]
    theirs = [
        (subscriber_id, person) for subscriber_id, person in theirs if subscriber_id in locked
    ]
    agreed = [(id, consent) for id, person in theirs for consent in person.consents]
    if agreed:
        await consents.carry_over(change, agreed)
    offered = await change.fact(rewards.of_campaign)
    earned = [
        (id, reward, each)
        for id, person in theirs
        for each in person.earned
        if (reward := given_rewards.find(offered, each)) is not None
    ]
    await rewards_elsewhere.restore(change, earned)
    return [
        ImportFinding(person.line.number, FindingKind.REWARD_UNKNOWN)
        for _, person in theirs
        if any(given_rewards.find(offered, each) is None for each in person.earned)
    ]


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
    """Subscribers by the ID that they have in the tool the file is from."""
    found = await change.all(_OWN_IDS, import_id=import_id, own_ids=list(own_ids))
    return {each.own_id: each.subscriber_id for each in found}
