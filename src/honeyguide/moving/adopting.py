"""Adopting what another tool wrote to an email platform, as the operator answered
(`integrations/adoption.py`). Codes count from then on, and counts become adjustments. It is done in
parts; each is a transaction, and doing one again changes nothing. Nobody is told anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.events import changes
from honeyguide.integrations import adoption, integrations
from honeyguide.integrations.adoption import AdoptionProblem, AdoptionValue
from honeyguide.integrations.integrations import Integration
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.moving import given_rewards, source_words
from honeyguide.moving.given_rewards import ReachedCount
from honeyguide.rewards import adjustments, rewards
from honeyguide.rewards.adjustments import CarriedOver
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import codes
from honeyguide.subscribers.codes import CodeHolder

ADOPTING = "adopt what another tool wrote to a platform"
BATCH = 200
# Some platforms make a decimal number of it. More than nine digits is no count of referrals.
_COUNT = re.compile(r"(\d{1,9})(\.0*)?", re.ASCII)


class _CountedContact(NamedTuple):
    id: str
    created_ms: int
    verified: int
    adjustments: int


_sql = beside(__file__)
_DUE = _sql.value("due", str)
_LOCK_INTEGRATION = _sql.value("lock_integration", str)
_NEXT = _sql.query("next", AdoptionValue)
_LOCK = _sql.query("lock", _CountedContact)
_MARK = _sql.command("mark")
_DELETE = _sql.command("delete")
_SETTLE = _sql.command("settle")


async def due(tx: Tx, *, most: int) -> list[str]:
    """Integrations whose values are to be adopted, or are no longer needed."""
    return await tx.all(_DUE, most=most)


async def adopt_batch(tx: Tx, site: Site, integration_id: str) -> bool:
    """Adopts some values of an integration. Tells whether there may be more. It may have been
    disconnected meanwhile."""
    if not await tx.lock(_LOCK_INTEGRATION, id=integration_id):
        return False
    integration = await integrations.get_by_id(tx, integration_id)
    change = Change(tx, site, integration.tenant, integration.actor, tx.now_ms)
    if integration.adoption_answer != integrations.ADOPT:
        deleted = await change.run(_DELETE, id=integration_id, most=BATCH)
        tx.scrub()
        return deleted == BATCH
    values = await change.all(_NEXT, id=integration_id, most=BATCH)
    if values:
        await _adopt(change, integration, values)
    if len(values) < BATCH:
        await change.run(_SETTLE, id=integration_id)
        tx.wake(integrations.TOPIC)
    return len(values) == BATCH


async def _adopt(change: Change, integration: Integration, values: Sequence[AdoptionValue]) -> None:
    counted = await change.lock(_LOCK, ids=[each.subscriber_id for each in values])
    problems = await _adopt_codes(change, values, {each.id for each in counted})
    await _carry_over(change, integration, values, counted)
    marks = [
        {
            "integration_id": integration.id,
            "subscriber_id": each.subscriber_id,
            "state": adoption.REFUSED if each.subscriber_id in problems else adoption.ADOPTED,
            "problem": problems.get(each.subscriber_id),
        }
        for each in values
    ]
    await change.run(_MARK, rows=marks)
    for each in counted:
        await changes.record(change, each.id)


def code_of(value: AdoptionValue) -> str | None:
    """Their code there: from its field, else from their link. None if neither has a code."""
    in_link = source_words.code_of_link(value.link) if value.link else None
    for text in (value.code, in_link):
        if text is not None and codes.is_code(text.strip()):
            return text.strip()
    return None


async def _adopt_codes(
    change: Change, values: Sequence[AdoptionValue], known: set[str]
) -> dict[str, AdoptionProblem]:
    """Whose code does not count, and why."""
    problems, holders = {}, []
    for each in values:
        code = code_of(each)
        if code is not None and each.subscriber_id in known:
            holders.append(CodeHolder(code, each.subscriber_id))
        elif code is None and each.code is not None:
            problems[each.subscriber_id] = AdoptionProblem.NO_CODE
    for refused in await codes.adopt(change, holders):
        problems[refused.subscriber_id] = AdoptionProblem.TAKEN
    return problems


def count_of(value: AdoptionValue) -> int:
    found = _COUNT.fullmatch((value.referrals or "").strip())
    return int(found[1]) if found else 0


async def _carry_over(
    change: Change,
    integration: Integration,
    values: Sequence[AdoptionValue],
    counted: Sequence[_CountedContact],
) -> None:
    """Adds what another tool counted and we do not have. What it unlocks was given there."""
    offered = await change.fact(rewards.of_campaign)
    by_id = {each.subscriber_id: each for each in values}
    carried, progress, got = [], [], []
    for each in counted:
        value, has = by_id[each.id], each.verified + each.adjustments
        if count_of(value) > has:
            amount = count_of(value) - has
            carried.append(CarriedOver(new_id(), each.id, each.created_ms, amount))
            progress.append(ReachedCount(each.id, has, has + amount))
        if value.reward and (given := given_rewards.up_to(offered, value.reward)):
            got.append((each.id, given))
    platform = integrations.name_of(integration.platform)
    await adjustments.carry_over(change, carried, f"Carried over from {platform}")
    await given_rewards.mark(change, progress)
    await given_rewards.mark_up_to(change, got)
