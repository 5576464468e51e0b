"""Finds subscribers for the operator: by a filter, or referrals by their state. A page of ids is
found first, then their rows, in one snapshot.

A filter reads the campaign's subscribers one after another, so it needs a slow snapshot. No index
serves it: every signup would pay for one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.kernel import text_matching
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import reasons
from honeyguide.subscribers.subscriber_filters import SubscriberFilter
from honeyguide.subscribers.subscribers import Subscriber

TOP, BOTTOM = (2**62, "~"), (-(2**62), "")
# Matches are counted up to here; more are shown as "10,000+".
MOST_COUNTED = 10_000
# How many a search looks at while somebody types.
LOOKED_AT = 3_000


class FoundSubscriber(Subscriber, frozen=True):
    """A subscriber as a list shows them, with their referrer."""

    referrer_email: str | None = None
    referrer_name: str | None = None

    @property
    def is_from_partner(self) -> bool:
        return self.referrer_code is not None and self.referrer_id is None

    @property
    def why(self) -> str:
        """The plain sentence behind the referral's state."""
        if self.referrer_code is None or self.referral_reason is None:
            return ""
        return reasons.explain(self.referral_reason, self.referral_due_ms)


class Cursor(NamedTuple):
    """A place in a list: what the list is sorted by, and the subscriber there."""

    at: int
    id: str


class FoundPage(NamedTuple):
    rows: list[FoundSubscriber]
    total: int
    """Of all matches; `MOST_COUNTED + 1` stands for more."""
    next: Cursor | None
    """The last row of this page, if another page follows."""
    previous: Cursor | None
    """The first row of this page, if another page comes before."""


_sql = beside(__file__, subscriber=Subscriber.__struct_fields__)
_NEWEST = _sql.query("newest", Cursor)
_OLDEST = _sql.query("oldest", Cursor)
_BEST = _sql.query("best", Cursor)
_FEWEST = _sql.query("fewest", Cursor)
_JUDGED = _sql.value("judged", str)
_COUNT_UNKNOWN_CODES = _sql.value("count_unknown_codes", int)
_OF_UNKNOWN_CODE = _sql.value("of_unknown_code", str)
_SUSPECTED = _sql.value("suspected", str)
_OF_IDS = _sql.query("of_ids", FoundSubscriber)
_BY_START_OF_EMAIL = _sql.value("by_start_of_email", str)
_AMONG_BEST = _sql.value("among_best", str)
_AMONG_NEWEST = _sql.value("among_newest", str)

# Each order, and the same list backwards; the start of each.
_ORDERS = {"newest": (_NEWEST, _OLDEST), "oldest": (_OLDEST, _NEWEST), "best": (_BEST, _FEWEST)}
_STARTS = {_NEWEST: TOP, _BEST: TOP, _OLDEST: BOTTOM, _FEWEST: BOTTOM}


async def find_page(
    at: Reading,
    filters: SubscriberFilter,
    *,
    before: Cursor | None = None,
    after: Cursor | None = None,
    per_page: int,
) -> FoundPage:
    """The first page; the page that follows `before` in the list; or the one that ends at
    `after`."""
    counted = await _find(at, filters, None, most=MOST_COUNTED + 1)
    found = counted[: per_page + 1]
    if before is not None:
        found = await _find(at, filters, before, most=per_page + 1)
    elif after is not None:
        found = await _find(at, filters, after, most=per_page + 1, backwards=True)
    has_more, found = len(found) > per_page, found[:per_page]
    if after is not None:
        found.reverse()
    has_next, has_previous = (True, has_more) if after else (has_more, before is not None)
    return FoundPage(
        rows=await of_ids(at, [each.id for each in found]),
        total=len(counted),
        next=found[-1] if found and has_next else None,
        previous=found[0] if found and has_previous else None,
    )


async def find_ids(at: Reading, filters: SubscriberFilter) -> list[str]:
    """Everybody who matches, as far as matches are counted."""
    return [each.id for each in await _find(at, filters, None, most=MOST_COUNTED)]


async def _find(
    at: Reading,
    filters: SubscriberFilter,
    start: Cursor | None,
    *,
    most: int,
    backwards: bool = False,
) -> list[Cursor]:
    statement = _ORDERS[filters.sort][backwards]
    last_at, last_id = start or _STARTS[statement]
    conditions = _conditions(at.tenant, filters)
    return await at.all(statement, **conditions, at=last_at, id=last_id, most=most)


def _conditions(tenant: Tenant, filters: SubscriberFilter) -> dict[str, Any]:
    text = filters.q.lower()
    return {
        "campaign_id": tenant.campaign_id,
        "status": filters.status,
        "referral": filters.referral,
        "referred_by": filters.referred_by,
        "origin": filters.origin,
        "utm_source": filters.utm_source,
        "utm_campaign": filters.utm_campaign,
        "from_ms": filters.from_ms,
        "to_ms": filters.to_ms,
        "least": filters.min_referrals or 0,
        "most_referrals": -1 if filters.max_referrals is None else filters.max_referrals,
        "reward": filters.reward,
        "tag": filters.tag,
        "text": text,
        "in_email": text_matching.like_pattern(text),
        "in_name": text_matching.like_pattern(text_matching.fold(text)),
        "spellings": text_matching.character_classes(text),
    }


async def export_part(
    at: Reading, filters: SubscriberFilter, *, after: Cursor | None, most: int
) -> tuple[list[FoundSubscriber], Cursor | None]:
    """The next rows in the filter's order, and after which one to continue; None if these were the
    last. Needs a snapshot, because an erasure in between would make a full part look like the
    last."""
    found = await _find(at, filters, after, most=most)
    rows = await of_ids(at, [each.id for each in found])
    return rows, found[-1] if len(found) == most else None


async def judged(
    at: Reading, status: str, *, before: Cursor | None, most: int
) -> list[FoundSubscriber]:
    """Referrals that are `pending`, that wait for a review (`suspected`) or that were rejected,
    newest first."""
    last_at, last_id = before or TOP
    statement = _SUSPECTED if status == "suspected" else _JUDGED
    ids = await at.all(statement, status=status, at=last_at, id=last_id, most=most)
    return await of_ids(at, ids)


async def count_unknown_codes(at: Reading, *, most: int) -> int:
    """How many came with a code that nobody here ever had, up to `most`."""
    return await at.one(_COUNT_UNKNOWN_CODES, most=most) or 0


async def of_unknown_code(at: Reading, code: str, *, most: int) -> list[str]:
    """The ids of those who came with this code; none if somebody has it."""
    return await at.all(_OF_UNKNOWN_CODE, code=code, most=most)


async def of_ids(at: Reading, ids: list[str]) -> list[FoundSubscriber]:
    """These people, in this order."""
    found = {row.id: row for row in await at.all(_OF_IDS, ids=ids)}
    return [found[each] for each in ids if each in found]


async def find_quickly(at: Reading, text: str, *, most: int) -> list[FoundSubscriber]:
    """Who is probably meant, for a search while somebody types: a few of the best advocates, those
    whose address begins so, and the newest subscribers. However long the list is, this looks at no
    more than `LOOKED_AT` of each kind; `find_page` finds everybody."""
    text = text.lower()
    values: dict[str, Any] = {
        "campaign_id": at.tenant.campaign_id,
        "text": text,
        "in_email": text_matching.like_pattern(text),
        "in_name": text_matching.like_pattern(text_matching.fold(text)),
        "spellings": text_matching.character_classes(text),
        "looked_at": LOOKED_AT,
        "most": most,
    }
    # No character sorts after the last one of Unicode.
    starts: dict[str, Any] = {"first": text, "last": f"{text}\U0010ffff"}
    best = await at.all(_AMONG_BEST, **values)
    ids = [
        *best[: most // 2],
        *await at.all(_BY_START_OF_EMAIL, **starts, most=most),
        *best,
        *await at.all(_AMONG_NEWEST, **values),
    ]
    return await of_ids(at, list(dict.fromkeys(ids))[:most])
