"""The third stage of an import: counts. Referrals that the other tool counted and whose people are
not in the file become an adjustment. Rewards that were given there are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.moving import given_rewards, people
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.given_rewards import ReachedCount
from honeyguide.moving.imported_line import ImportedPerson
from honeyguide.referrals import adjustments, rewards
from honeyguide.referrals.adjustments import CarriedOver
from honeyguide.store.change import Change
from honeyguide.store.statements import beside


class Counted(NamedTuple):
    """A subscriber, locked, and what they have toward rewards."""

    id: str
    email_key: str
    created_ms: int
    verified: int
    adjustments: int
    referrer_id: str | None


_sql = beside(__file__)
_LOCK = _sql.query("lock", Counted)


def missing(counted: Counted, count: int | None, adjusted: int | None) -> int:
    """What to add so that somebody has as much toward rewards as the file says: `count` verified
    referrals and what the operator added before. 0 the second time."""
    if count is None and adjusted is None:
        return 0
    target = (counted.verified if count is None else count) + (adjusted or 0)
    lacks = target - counted.verified - counted.adjustments
    if lacks >= 0:
        return lacks
    # Who has more here keeps it. Only what the operator took off before is taken off again, once.
    return max(lacks, min(adjusted or 0, 0)) if counted.adjustments == 0 else 0


async def carry_over(
    change: Change, lines: Sequence[ImportedPerson], source: str, *, gives_rewards: bool
) -> list[ImportFinding]:
    counting = [
        person
        for person in lines
        if person.referrals is not None or person.adjustments is not None or person.last_reward
    ]
    if not counting:
        return []
    by_key = await lock(change, counting)
    offered = await change.fact(rewards.of_campaign)
    findings, carried, progress, got = [], [], [], []
    done = set[str]()
    for person in counting:
        counted = by_key.get(person.email.key)
        if counted is None or counted.id in done:
            continue
        done.add(counted.id)
        if person.referrals is not None and person.referrals < counted.verified:
            findings.append(
                ImportFinding(person.line.number, FindingKind.COUNT_LOWER, counted.verified)
            )
        if amount := missing(counted, person.referrals, person.adjustments):
            carried.append(CarriedOver(new_id(), counted.id, counted.created_ms, amount))
            had = counted.verified + counted.adjustments
            progress.append(ReachedCount(counted.id, had, had + amount))
        if person.last_reward and offered:
            if (rewarded := given_rewards.up_to(offered, person.last_reward)) is None:
                findings.append(ImportFinding(person.line.number, FindingKind.REWARD_UNKNOWN))
            else:
                got.append((counted.id, rewarded))
    await adjustments.carry_over(change, carried, f"Carried over from {source}")
    await given_rewards.mark_up_to(change, got)
    if not gives_rewards:
        await given_rewards.mark(change, progress)
    return findings


async def give_rewards(change: Change, lines: Sequence[ImportedPerson]) -> None:
    """The last stage, if the operator asked for it: to everybody in the file and their
    referrers."""
    found = await lock(change, lines)
    ids: dict[str, Any] = {}
    for counted in found.values():
        ids[counted.id] = None
        if counted.referrer_id is not None:
            ids[counted.referrer_id] = None
    await given_rewards.give(change, sorted(ids, reverse=True))


async def lock(change: Change, lines: Sequence[ImportedPerson]) -> dict[str, Counted]:
    """By the key of their email address."""
    ids = await people.find(change, [person.email.key for person in lines])
    return {each.email_key: each for each in await change.lock(_LOCK, ids=list(ids.values()))}
