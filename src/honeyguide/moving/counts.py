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
from honeyguide.rewards import adjustments, rewards
from honeyguide.rewards.adjustments import CarriedOver
from honeyguide.rewards.rewards import Reward
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

    @property
    def progress(self) -> int:
        return self.verified + self.adjustments


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
    """Lines with the same address are taken one after the other, as if they were far apart; what is
    odd is reported of the first."""
    counting = [
        person
        for person in lines
        if person.referrals is not None or person.adjustments is not None or person.last_reward
    ]
    if not counting:
        return []
    before = await lock(change, counting)
    now, got = dict(before), dict[str, list[Reward]]()
    offered = await change.fact(rewards.of_campaign)
    findings, seen = [], set[str]()
    for person in counting:
        counted = now.get(person.email.key)
        if counted is None:
            continue
        is_first = counted.id not in seen
        seen.add(counted.id)
        if is_first and person.referrals is not None and person.referrals < counted.verified:
            findings.append(
                ImportFinding(person.line.number, FindingKind.COUNT_LOWER, counted.verified)
            )
        amount = missing(counted, person.referrals, person.adjustments)
        now[counted.email_key] = counted._replace(adjustments=counted.adjustments + amount)
        if person.last_reward and offered:
            rewarded = given_rewards.up_to(offered, person.last_reward)
            if rewarded is None and is_first:
                findings.append(ImportFinding(person.line.number, FindingKind.REWARD_UNKNOWN))
            got[counted.id] = max(got.get(counted.id, []), rewarded or [], key=len)
    changed = [(each, now[key]) for key, each in before.items() if now[key] != each]
    carried = [
        CarriedOver(new_id(), had.id, had.created_ms, has.adjustments - had.adjustments)
        for had, has in changed
    ]
    await adjustments.carry_over(change, carried, f"Carried over from {source}")
    await given_rewards.mark_up_to(change, got.items())
    if not gives_rewards:
        reached = [ReachedCount(had.id, had.progress, has.progress) for had, has in changed]
        await given_rewards.mark(change, reached)
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
