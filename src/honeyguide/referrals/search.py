"""Finding people for the operator's eyes: by how an address or name begins, by what was decided, by who brought most. Every
question walks an index; none counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from honeyguide.referrals import rules
from honeyguide.referrals.campaigns import Owner
from honeyguide.referrals.people import Subscriber
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

TOP = (2**62, "~")
# How far a prefix is followed before filters: past that, one more letter is quicker than any list.
NEAR = 1_000

SHOWS = ("all", "referrals", "advocates", "pending", "rejected", "unsubscribed")
SORTS = ("newest", "oldest", "best")


class Found(NamedTuple):
    """A person as a list shows them, with whoever brought them."""

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


class _Referrer(NamedTuple):
    id: str
    email: str | None
    name: str | None


Place = tuple[int, str]

_sql = beside(__file__)
_EMAIL_BEGINS = _sql.value("email_begins", str)
_NAME_BEGINS = _sql.value("name_begins", str)
_CODE_IS = _sql.value("code_is", str)
_OF_IDS = _sql.query("of_ids", Found)
_NEWEST = _sql.query("newest", Found)
_OLDEST = _sql.query("oldest", Found)
_BEST = _sql.query("best", Found)
_JUDGED = _sql.query("judged", Found)
_LEFT = _sql.query("left", Found)
_REFERRERS = _sql.query("referrers", _Referrer)


def _end(prefix: str) -> str:
    """The first text past all that begin so, by code point, as both engines compare."""
    return prefix[:-1] + chr(min(ord(prefix[-1]) + 1, 0x10FFFF)) if prefix else ""


async def by_prefix(tx: Tx, owner: Owner, text: str, show: str, *, most: int) -> list[Found]:
    """Whose address or name begins so, or who has this code."""
    folded = text.strip().lower()
    if not folded:
        return []
    # Each question walks its own index; asked as one, SQLite would begin each anew for every row.
    whose: dict[str, Any] = {"campaign_id": owner.campaign_id, "low": folded}
    ids = await tx.all(_CODE_IS, **whose)
    for statement in (_EMAIL_BEGINS, _NAME_BEGINS):
        ids += await tx.all(statement, **whose, high=_end(folded), near=NEAR)
    wanted = msgspec.json.encode(dict.fromkeys(ids)).decode()
    return await tx.all(_OF_IDS, campaign_id=owner.campaign_id, ids=wanted, show=show, most=most)


async def ordered(tx: Tx, owner: Owner, show: str, sort: str, *, before: Place | None, most: int) -> list[Found]:
    """Lists that the API does not have: oldest first, best first, those who left."""
    if show in ("pending", "rejected"):
        return await judged(tx, owner, show, before=before, most=most)
    if sort == "best":
        place = before or TOP
        return await tx.all(_BEST, campaign_id=owner.campaign_id, count=place[0], id=place[1], most=most)
    if show == "unsubscribed":
        place = before or TOP
        return await tx.all(_LEFT, campaign_id=owner.campaign_id, ms=place[0], id=place[1], most=most)
    statement, place = (_OLDEST, before or (-(2**62), "")) if sort == "oldest" else (_NEWEST, before or TOP)
    return await tx.all(statement, campaign_id=owner.campaign_id, ms=place[0], id=place[1], show=show, most=most)


async def judged(tx: Tx, owner: Owner, status: str, *, before: Place | None, most: int) -> list[Found]:
    """Referrals that wait or were rejected, the latest first."""
    place = before or TOP
    return await tx.all(_JUDGED, campaign_id=owner.campaign_id, status=status, ms=place[0], id=place[1], most=most)


async def with_referrers(tx: Tx, owner: Owner, rows: list[Subscriber]) -> list[Found]:
    """A page of people as the lists here show them."""
    ids = msgspec.json.encode({row.referrer_id: None for row in rows if row.referrer_id}).decode()
    brought_by = {row.id: row for row in await tx.all(_REFERRERS, campaign_id=owner.campaign_id, ids=ids)}
    return [
        Found(
            s.id, s.email, s.name, s.ref_code, s.status, s.referrer_code, s.referrer_id,
            brought_by[s.referrer_id].email if s.referrer_id in brought_by else None,
            brought_by[s.referrer_id].name if s.referrer_id in brought_by else None,
            s.referral_status, s.referral_reason, s.referral_due_ms, s.referrals_verified, s.referrals_pending, s.created_ms,
            s.received_ms, s.ip_address, s.decided_by, s.decided_ms,
        )
        for s in rows
    ]  # fmt: skip
