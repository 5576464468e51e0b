"""Finds subscribers for the operator: by the beginning of an address or name, by status, by most
referrals. Every query follows an index and none counts. A page of ids is found first, then their
rows, in one snapshot.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import rules
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

TOP, BOTTOM = (2**62, "~"), (-(2**62), "")
# How far a prefix is followed before filters: past that, one more letter is quicker than any list.
NEAR = 1_000

SHOWS = ("all", "referrals", "advocates", "pending", "rejected", "unsubscribed")
SORTS = ("newest", "oldest", "best")


class FoundSubscriber(NamedTuple):
    """A subscriber as a list shows them, with their referrer."""

    id: str
    email: str
    name: str | None
    ref_code: str
    status: str
    referrer_code: str | None
    referrer_id: str | None
    referrer_email: str | None
    referrer_name: str | None
    referral_status: str
    referral_reason: str | None
    referral_due_ms: int | None
    referrals_verified: int
    referrals_pending: int
    created_ms: int
    received_ms: int
    ip_address: str | None
    decided_by: str | None
    decided_ms: int | None

    @property
    def why(self) -> str:
        """The plain sentence behind the referral's state."""
        if self.referrer_code is None or self.referral_reason is None:
            return ""
        return rules.explain(self.referral_reason, self.referral_due_ms)


Cursor = tuple[int, str]

_sql = beside(__file__)
_EMAIL_BEGINS = _sql.value("email_begins", str)
_NAME_BEGINS = _sql.value("name_begins", str)
_CODE_IS = _sql.value("code_is", str)
_AMONG = _sql.value("among", str)
_OLDEST = _sql.value("oldest", str)
_BEST = _sql.value("best", str)
_JUDGED = _sql.value("judged", str)
_SUSPECTED = _sql.value("suspected", str)
_LEFT = _sql.value("left", str)
_OF_IDS = _sql.query("of_ids", FoundSubscriber)


def _end(prefix: str) -> str:
    """The first text past all that begin so, by code point, as both engines compare."""
    return prefix[:-1] + chr(min(ord(prefix[-1]) + 1, 0x10FFFF)) if prefix else ""


async def by_prefix(
    tx: Tx, tenant: Tenant, text: str, show: str, *, most: int
) -> list[FoundSubscriber]:
    """Whose address or name begins so, or who has this code."""
    folded = text.strip().lower()
    if not folded:
        return []
    # Each statement scans its own index. In one statement, SQLite would start each scan again for
    # every row.
    whose: dict[str, Any] = {"campaign_id": tenant.campaign_id, "low": folded}
    ids = await tx.all(_CODE_IS, **whose)
    for statement in (_EMAIL_BEGINS, _NAME_BEGINS):
        ids += await tx.all(statement, **whose, high=_end(folded), near=NEAR)
    ids = await tx.all(_AMONG, campaign_id=tenant.campaign_id, ids=ids, show=show, most=most)
    return await of_ids(tx, tenant, ids)


async def ordered(
    tx: Tx, tenant: Tenant, show: str, sort: str, *, before: Cursor | None, most: int
) -> list[FoundSubscriber]:
    """Lists that the API does not have: oldest first, best first, those who left."""
    if show in ("pending", "rejected"):
        return await judged(tx, tenant, show, before=before, most=most)
    statement = _LEFT if show == "unsubscribed" else _BEST if sort == "best" else _OLDEST
    at, last_id = before or (BOTTOM if statement is _OLDEST else TOP)
    ids = await tx.all(
        statement, campaign_id=tenant.campaign_id, show=show, at=at, id=last_id, most=most
    )
    return await of_ids(tx, tenant, ids)


async def judged(
    tx: Tx, tenant: Tenant, status: str, *, before: Cursor | None, most: int
) -> list[FoundSubscriber]:
    """Referrals that are `pending`, that wait for a review (`suspected`) or that were rejected,
    newest first."""
    at, last_id = before or TOP
    statement = _SUSPECTED if status == "suspected" else _JUDGED
    ids = await tx.all(
        statement, campaign_id=tenant.campaign_id, status=status, at=at, id=last_id, most=most
    )
    return await of_ids(tx, tenant, ids)


async def of_ids(tx: Tx, tenant: Tenant, ids: list[str]) -> list[FoundSubscriber]:
    """These people, in this order."""
    found = {row.id: row for row in await tx.all(_OF_IDS, campaign_id=tenant.campaign_id, ids=ids)}
    return [found[each] for each in ids if each in found]
