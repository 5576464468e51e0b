"""The Comb of Home: reads who joined in the range and has it drawn. Up to 1,500 people are drawn
one by one; more are drawn from the counts that are kept for each day."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from honeyguide.kernel.periods import day_of
from honeyguide.pages.dashboard.home import comb
from honeyguide.pages.dashboard.home.comb_parts import (
    ALONE,
    NOBODY,
    PENDING,
    REJECTED,
    VERIFIED,
    Comb,
    CombColumn,
    CombSource,
    Joined,
)
from honeyguide.pages.dashboard.home.overview_numbers import Numbers, list_link
from honeyguide.pages.dashboard.home.ranges import ChosenRange
from honeyguide.partners import partner_names
from honeyguide.partners.partner_names import NamedPartner
from honeyguide.store.reading import Reading
from honeyguide.subscribers import cohorts
from honeyguide.subscribers.cohorts import MOST_READ, CohortCount, JoinedSubscriber
from honeyguide.subscribers.reasons import SUSPICIONS

MOST_PEOPLE = 1_500
GONE = "gone"
STATUS = {"verified": VERIFIED, "pending": PENDING, "rejected": REJECTED}


class Bringer(NamedTuple):
    """A source with a name, and how many it brought."""

    name: str
    n: int
    through: str = ""
    """The source that brought them, if it is in the picture too."""


class Picture(NamedTuple):
    comb: Comb
    has_people: bool
    """False if days were drawn instead."""
    subscribers: int
    """How many of them brought somebody; likewise partners."""
    partners: int
    bringers: list[Bringer]


async def read(at: Reading, chosen: ChosenRange, numbers: Numbers, *, after_ms: int) -> Picture:
    """Whoever joined after `after_ms` is marked as new."""
    ends_today = chosen.period.last == day_of(at.now_ms, chosen.period.zone)
    columns = columns_of(numbers)
    now = numbers.now
    if now.new <= MOST_PEOPLE and now.new + now.imported <= MOST_READ:
        rows = await cohorts.joined_in(at, chosen.period, most=MOST_PEOPLE + 1)
        if len(rows) <= MOST_PEOPLE:
            ids = {each.partner_campaign_id or each.above_partner_id or "" for each in rows}
            partners = await partner_names.of(at, sorted(ids - {""}))
            sources = sources_of(rows, partners, chosen)
            people = people_of(rows, partners, chosen, after_ms=after_ms)
            drawn = comb.draw(people, sources, columns, ends_today=ends_today)
            return _with_people(drawn, people, sources)
    days = days_of(numbers.groups, list(numbers.days))
    drawn = comb.draw(days, day_sources(chosen), columns, ends_today=ends_today)
    has_partners = int(now.by_partners > 0)
    return Picture(drawn, False, numbers.referrers.n, has_partners, [])


def example() -> Comb:
    """For an account without subscribers: what will be here."""
    heights = (
        1,
        2,
        1,
        2,
        3,
        1,
        1,
        2,
        2,
        1,
        3,
        4,
        2,
        3,
        2,
        4,
        3,
        5,
        3,
        4,
        3,
        5,
        4,
        6,
        5,
        4,
        6,
        5,
        7,
        6,
    )
    columns = [CombColumn(date(2026, 1, 1)) for _ in heights]
    people = [Joined(column, NOBODY, ALONE, n=n) for column, n in enumerate(heights)]
    sources = {NOBODY: CombSource(NOBODY, "", NOBODY)}
    return comb.draw(people, sources, columns, ends_today=False)


def columns_of(numbers: Numbers) -> list[CombColumn]:
    days, before = list(numbers.days), list(numbers.days_before.values())
    step = comb.days_in_column(len(days))
    return [
        CombColumn(
            first=days[at],
            before=sum(each.new for each in before[at : at + step]) if before else None,
            imported=sum(numbers.days[day].imported for day in days[at : at + step]),
        )
        for at in range(0, len(days), step)
    ]


Partners = dict[str, NamedPartner]


def _source_key(row: JoinedSubscriber, partners: Partners) -> str:
    if row.partner_campaign_id:
        return _partner_key(row.partner_campaign_id, partners)
    if not row.is_referred:
        return NOBODY
    return row.referrer_id or GONE


def _partner_key(partner_campaign_id: str, partners: Partners) -> str:
    """One partner is one source, in however many programs."""
    found = partners.get(partner_campaign_id)
    return found.account_id if found else partner_campaign_id


def sources_of(
    rows: list[JoinedSubscriber], partners: Partners, chosen: ChosenRange
) -> dict[str, CombSource]:
    nobody = list_link(chosen, referred_by="nobody")
    found = {
        NOBODY: CombSource(NOBODY, "Not referred", NOBODY, nobody),
        GONE: CombSource(GONE, "Erased subscribers", "several"),
    }
    for row in rows:
        key = _source_key(row, partners)
        if key in found:
            continue
        if row.partner_campaign_id:
            known = partners.get(row.partner_campaign_id)
            found[key] = CombSource(
                key,
                known.name if known else "A partner",
                "partner",
                path=f"/program/partners/{row.partner_campaign_id}",
                logo=known.logo if known else "",
            )
        else:
            name = row.referrer_name or row.referrer_email or ""
            above = row.above_id or ""
            if row.above_partner_id:
                above = _partner_key(row.above_partner_id, partners)
            found[key] = CombSource(key, name, "subscriber", f"/subscribers/{key}", above)
    return found


def people_of(
    rows: list[JoinedSubscriber], partners: Partners, chosen: ChosenRange, *, after_ms: int
) -> list[Joined]:
    """The oldest first, so that the newest lie on top."""
    period = chosen.period
    step = comb.days_in_column(period.length)
    return [
        Joined(
            column=(day_of(row.created_ms, period.zone) - period.first).days // step,
            source=_source_key(row, partners),
            status=STATUS[row.status] if row.is_referred else ALONE,
            waits=row.is_referred and row.status == "pending" and row.reason in SUSPICIONS,
            id=row.id,
            joined_ms=row.created_ms,
            is_new=0 < after_ms < row.created_ms,
        )
        for row in reversed(rows)
    ]


def day_sources(chosen: ChosenRange) -> dict[str, CombSource]:
    rows = (
        ("by_subscribers", "Subscribers", "several", "subscriber"),
        ("by_partners", "Partners", "several", "partner"),
        ("not_referred", "Not referred", NOBODY, "nobody"),
    )
    return {
        key: CombSource(key, name, kind, list_link(chosen, referred_by=by))
        for key, name, kind, by in rows
    }


def days_of(groups: list[CohortCount], days: list[date]) -> list[Joined]:
    """The counts of each day: several people of the same source and status."""
    step = comb.days_in_column(len(days))
    column = {day.isoformat(): place // step for place, day in enumerate(days)}
    found = []
    for each in groups:
        if each.key == "imported" or each.day not in column:
            continue
        if each.key == "not_referred":
            counts = {ALONE: each.joined}
        else:
            counts = {VERIFIED: each.verified, PENDING: each.pending, REJECTED: each.rejected}
        found += [
            Joined(column[each.day], each.key, status, n=n) for status, n in counts.items() if n
        ]
    return found


def _with_people(drawn: Comb, people: list[Joined], sources: dict[str, CombSource]) -> Picture:
    ranked = comb.ranked(people, sources)
    counts = dict.fromkeys(sources, 0)
    for each in people:
        counts[each.source] += 1
    kinds = [each.kind for each in ranked]
    return Picture(
        comb=drawn,
        has_people=True,
        subscribers=kinds.count("subscriber"),
        partners=kinds.count("partner"),
        bringers=[
            Bringer(each.name, counts[each.key], _name_of(sources, each.parent))
            for each in ranked
            if each.kind in ("subscriber", "partner")
        ],
    )


def _name_of(sources: dict[str, CombSource], key: str) -> str:
    return sources[key].name if key in sources else ""
