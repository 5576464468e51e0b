"""The numbers of Home as CSV, for the range that the URL says."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.responses import Response

from honeyguide.kernel.periods import Period
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.pages.dashboard.home import home, overview_numbers, ranges
from honeyguide.pages.dashboard.home.overview_numbers import MOST_SOURCES_IN_FILE, Numbers
from honeyguide.pages.dashboard.home.ranges import ChosenRange
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.downloads import attachment
from honeyguide.store.reading import Reading
from honeyguide.subscribers import statistics
from honeyguide.subscribers.statistics import CutPeriod, Kept, PeriodTotals

COLUMNS = {
    "new": "New",
    "verified": "Verified",
    "pending": "Pending",
    "rejected": "Rejected",
    "not_referred": "Not referred",
    "by_subscribers": "Referred by subscribers",
    "by_partners": "Referred by partners",
    "imported": "Imported",
    "clicks": "Clicks",
}


def _chosen(request: PageRequest) -> ChosenRange:
    return ranges.chosen_range(request.query, request.zone, now_ms=request.now_ms)


def _file(name: str, period: Period, rows: Iterable[Iterable[object]]) -> Response:
    return Response(
        csv_text(rows),
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"{name}-{period.first}-{period.last}.csv"),
    )


async def days(at: Reading, request: PageRequest) -> Response:
    """One row per day, also where the chart shows weeks."""
    period = _chosen(request).period
    spans = await statistics.open_spans(at, CutPeriod(period))
    (counts,) = await statistics.by_day(at, spans)
    rows = [[day.isoformat(), *_values(totals)] for day, totals in counts.items()]
    return _file("days", period, [["Day", *COLUMNS.values()], *rows])


def _values(totals: PeriodTotals | None) -> list[object]:
    return [getattr(totals, name) if totals else "" for name in COLUMNS]


async def sources(at: Reading, request: PageRequest) -> Response:
    chosen, by = _chosen(request), home.source_kind(request)
    found = await overview_numbers.sources(at, chosen, by, most=MOST_SOURCES_IN_FILE)
    count = "Clicks" if by == "site" else "New subscribers"
    rows = [[each.name, each.n, "" if each.before is None else each.before] for each in found]
    heading = [overview_numbers.SOURCES[by], count, "In the comparison"]
    return _file(f"sources-{by}", chosen.period, [heading, *rows])


async def summary(at: Reading, request: PageRequest) -> Response:
    """Totals, funnel and who stayed: what the other cards show."""
    chosen = _chosen(request)
    numbers = await overview_numbers.collect(at, chosen, "origin", top=0)
    return _file("overview", chosen.period, _summary_rows(chosen, numbers))


def _summary_rows(chosen: ChosenRange, numbers: Numbers) -> list[list[object]]:
    now, before = _values(numbers.now), _values(numbers.before)
    rows: list[list[object]] = [["Number", chosen.text, chosen.comparison_text]]
    rows += [list(row) for row in zip(COLUMNS.values(), now, before, strict=True)]
    rows.append(
        [
            "Referrals per referrer",
            overview_numbers.per_referrer(numbers.referrers) or "",
            overview_numbers.per_referrer(numbers.referrers_before) or "",
        ]
    )
    for each in numbers.retention:
        for group, kept in (("Referred", each.referred), ("Not referred", each.others)):
            joined = ranges.days_in_words(each.joined) if each.joined else "nobody"
            label = f"{group}, still subscribed after {each.days} days (joined {joined})"
            rows += [[label, *_kept(kept)]]
    return rows


def _kept(kept: Kept) -> list[object]:
    return [f"{kept.stayed} of {kept.followed}" if kept.followed else "not recorded", ""]
