"""The second stage of an import: who referred whom. Everybody in the file is here by then, so the
order of its lines does not matter.

Nothing follows from it: no email, event, notification, reward or charge. That somebody was referred
elsewhere, years ago perhaps, is no news. It is not screened either: the other tool has decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.moving import given_rewards, people
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.given_rewards import ReachedCount
from honeyguide.moving.imported_line import ImportedPerson
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers.referral_states import Status


class LockedSubscriber(NamedTuple):
    """A subscriber as far as a referral needs to know, locked."""

    id: str
    email_key: str
    ref_code: str
    referrer_code: str | None
    referrer_id: str | None
    claimed_code: str | None
    referrals: int
    """All of them, whatever became of each."""
    verified: int
    adjustments: int


class FoundCode(NamedTuple):
    code: str
    subscriber_id: str


_sql = beside(__file__)
_BY_OURS = _sql.query("by_ours", FoundCode)
_BY_FOLDED = _sql.query("by_folded", FoundCode)
_LOCK = _sql.query("lock", LockedSubscriber)
_CLOSES_LOOP = _sql.value("closes_loop", int)
_JUDGE = _sql.command("judge")
_REFER = _sql.command("refer")
_CLAIM = _sql.command("claim")


async def connect(
    change: Change, import_id: str, lines: Sequence[ImportedPerson], *, gives_rewards: bool
) -> list[ImportFinding]:
    referred = [person for person in lines if person.referrer or person.claimed_code]
    if not referred:
        return []
    names = [person.referrer for person in referred if person.referrer]
    named = await find_named(change, import_id, names)
    here = await people.find(change, [person.email.key for person in referred])
    locked = await change.lock(_LOCK, ids=list({*here.values(), *named.values()}))
    by_id = {each.id: each for each in locked}
    by_key = {each.email_key: each for each in locked}
    rows: dict[str, dict[str, Any]] = {}
    claims: dict[str, str] = {}
    findings = []
    has_referred = {each.id for each in locked if each.referrals}
    for person in referred:
        subscriber = by_key.get(person.email.key)
        if subscriber is None or subscriber.id in rows:
            continue  # they were erased meanwhile, or an earlier line has said it
        referrer = by_id.get(named.get(person.referrer or "", ""))
        kind = None
        if referrer is None:
            if person.referrer:
                kind = FindingKind.REFERRER_UNKNOWN
            claim = person.claimed_code or person.referrer or ""
            if not subscriber.claimed_code and _is_kept(claim):
                claims.setdefault(subscriber.id, claim)
        elif referrer.id == subscriber.id:
            kind = FindingKind.REFERRER_IS_SELF
        elif subscriber.referrer_code is not None:
            kind = FindingKind.OTHER_REFERRER if subscriber.referrer_id != referrer.id else None
        elif subscriber.id in has_referred and await _closes_loop(
            change, subscriber.id, referrer.id, rows
        ):
            kind = FindingKind.LOOP
        else:
            rows[subscriber.id] = _row(person, subscriber, referrer)
            has_referred.add(referrer.id)
        if kind is not None:
            findings.append(ImportFinding(person.line.number, kind))
    await _write(change, rows, claims)
    if not gives_rewards:
        await given_rewards.mark(change, _progress(rows, by_id))
    return findings


async def look_at(change: Change, ids: Iterable[str]) -> list[LockedSubscriber]:
    """The same without a lock, for a dry run."""
    return await change.all(_LOCK, ids=list(ids))


async def find_named(change: Change, import_id: str, names: Sequence[str]) -> dict[str, str]:
    """Whom each of these texts names: by an email address, by the other tool's ID, else by a code,
    in any case if that is clear."""
    found: dict[str, str] = {}
    keys = {name: key for name in names if (key := email_key(name)) is not None}
    if keys:
        known = await people.find(change, list(keys.values()))
        found.update({name: known[key] for name, key in keys.items() if key in known})
    rest = list({name for name in names if name not in keys})
    if not rest:
        return found
    found.update(await people.find_own_ids(change, import_id, rest))
    rest = [name for name in rest if name not in found]
    folded_names = {name: name.lower() for name in rest if name.isascii()}
    by_ours = await change.all(_BY_OURS, codes=list(set(folded_names.values())))
    ours = {each.code: each.subscriber_id for each in by_ours}
    found.update({name: ours[code] for name, code in folded_names.items() if code in ours})
    rest = [name for name in rest if name not in found]
    folded: dict[str, list[FoundCode]] = {}
    for each in await change.all(_BY_FOLDED, folded=list({name.lower() for name in rest})):
        folded.setdefault(each.code.lower(), []).append(each)
    for name in rest:
        holders = folded.get(name.lower(), [])
        exact = [each for each in holders if each.code == name]
        if exact or len(holders) == 1:
            found[name] = (exact or holders)[0].subscriber_id
    return found


def _is_kept(claim: str) -> bool:
    """Not an email address: nobody would find it there when its owner asks to be erased."""
    return "@" not in claim and len(claim) <= checks.STRING_LIMIT


def email_key(name: str) -> str | None:
    """None if it is no email address."""
    if "@" not in name:
        return None
    try:
        return EmailAddress.parse(name).key
    except Invalid:
        return None


async def _closes_loop(
    change: Change, subscriber_id: str, referrer_id: str, rows: dict[str, dict[str, Any]]
) -> bool:
    """Whether the subscriber is above the referrer, also through the referrals of this part, which
    are not written yet."""
    if rows:
        await _write(change, rows, {})
    return bool(await change.one(_CLOSES_LOOP, referrer_id=referrer_id, id=subscriber_id))


def _row(
    person: ImportedPerson, subscriber: LockedSubscriber, referrer: LockedSubscriber
) -> dict[str, Any]:
    decision = person.referral
    return {
        "id": subscriber.id,
        "referrer_id": referrer.id,
        "referrer_code": referrer.ref_code,
        "status": decision.status.value,
        "reason": decision.reason,
        "due_ms": decision.due_ms,
    }


async def _write(change: Change, rows: dict[str, dict[str, Any]], claims: dict[str, str]) -> None:
    """What was written before is left alone by these statements."""
    if rows:
        # The status first: the referral is counted when the referrer is set, with the status it
        # has then.
        await change.run(_JUDGE, rows=list(rows.values()))
        await change.run(_REFER, rows=list(rows.values()))
    if claims:
        claimed = [{"id": each, "code": code} for each, code in claims.items()]
        await change.run(_CLAIM, rows=claimed)


def _progress(
    rows: dict[str, dict[str, Any]], by_id: dict[str, LockedSubscriber]
) -> list[ReachedCount]:
    """What each referrer of these rows had toward rewards, and has now."""
    more: dict[str, int] = {}
    for row in rows.values():
        if row["status"] == Status.VERIFIED:
            more[row["referrer_id"]] = more.get(row["referrer_id"], 0) + 1
    return [
        ReachedCount(each, had := by_id[each].verified + by_id[each].adjustments, had + number)
        for each, number in more.items()
    ]
