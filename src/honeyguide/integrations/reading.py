"""Reading a platform's list: all of it each night, and in between what changed.

Somebody who was deleted there is in no list. So a reading of the whole list marks those it shows,
and the pass over our own list that follows writes to those whom it did not show. That write only
updates; if the platform answers that there is nobody to update, they are unsubscribed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.events import change_log
from honeyguide.integrations import integrations
from honeyguide.integrations.integrations import TOP_MS, Integration
from honeyguide.integrations.leases import LeasedIntegration
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

# Clocks differ, and a change may show up late in a list.
OVERLAP_MS = 10 * MINUTE_MS
# If more than so many are missing, and more than this part of the list, the operator decides.
MOST_MISSING = 100
MOST_MISSING_PERCENT = 10
# After so many, a page that cannot be read ends the reading.
READ_TRIES = 10


class MissingCount(NamedTuple):
    seen: int
    missing: int

    @property
    def is_too_many(self) -> bool:
        total = self.seen + self.missing
        return self.missing > MOST_MISSING and 100 * self.missing > MOST_MISSING_PERCENT * total


_sql = beside(__file__)
_BEGIN_READ = _sql.command("begin_read")
_MOVE_READ = _sql.command("move_read")
_DELAY_READ = _sql.command("delay_read")
_GIVE_UP_READ = _sql.command("give_up_read")
_END_READ = _sql.command("end_read")
_MARK_SEEN = _sql.command("mark_seen")
_COUNT_MISSING = _sql.query("count_missing", MissingCount)
_BELIEVE_MISSING = _sql.command("believe_missing")


async def begin(leased: LeasedIntegration, *, since_ms: int | None) -> None:
    await leased.update(_BEGIN_READ, since_ms=since_ms)


async def move(leased: LeasedIntegration, read_token: str, *, next_call_ms: int) -> None:
    await leased.update(_MOVE_READ, read_token=read_token, next_call_ms=next_call_ms)


async def fail(leased: LeasedIntegration, problem: str, *, poll_every_s: int) -> None:
    """A page could not be read: tries again later, and in the end leaves it to the next reading.
    Webhooks and writes do not wait for it."""
    now_ms, tries = leased.now_ms, leased.integration.read_tries
    if tries + 1 < READ_TRIES:
        next_page_ms = now_ms + MINUTE_MS * 2**tries
        await leased.update(_DELAY_READ, problem=problem, next_page_ms=next_page_ms)
        return
    await leased.update(
        _GIVE_UP_READ,
        problem=problem,
        next_read_ms=now_ms + poll_every_s * 1000 if poll_every_s else 0,
        next_full_read_ms=now_ms + DAY_MS,
    )


async def end(
    leased: LeasedIntegration,
    *,
    counted: MissingCount | None,
    poll_every_s: int,
    next_call_ms: int,
) -> None:
    """`counted` if the whole list was read, and showed everybody who is there."""
    began_ms = leased.integration.read_began_ms
    is_too_many = counted is not None and counted.is_too_many
    await leased.update(
        _END_READ,
        is_complete=int(counted is not None and not is_too_many),
        missing=counted.missing if counted is not None and is_too_many else 0,
        next_read_ms=began_ms + poll_every_s * 1000 if poll_every_s else 0,
        next_full_read_ms=began_ms + DAY_MS,
        next_call_ms=next_call_ms,
        top_ms=TOP_MS,
    )


async def mark_seen(leased: LeasedIntegration, remote_ids: Sequence[str]) -> None:
    """A page of the whole list showed them."""
    await leased.run(
        _MARK_SEEN, remote_ids=list(remote_ids), began_ms=leased.integration.read_began_ms
    )


async def count_missing(at: Reading, integration: Integration) -> MissingCount:
    """After the last page."""
    counted = await at.one(
        _COUNT_MISSING, integration_id=integration.id, began_ms=integration.read_began_ms
    )
    assert counted is not None
    return counted


async def believe_missing(change: Change) -> None:
    """The operator says that so many were really deleted there. Each one is looked up."""
    integration = await integrations.find(change)
    if not await change.run(_BELIEVE_MISSING, top_ms=TOP_MS):
        return
    change.tx.wake(integrations.TOPIC)
    assert integration is not None
    asked = {"contacts": integration.missing}
    await change_log.record(change, "integration.missing_unsubscribed", integration.id, None, asked)
