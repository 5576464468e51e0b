"""A report as tables for a terminal, as one HTML page, and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
from rich.table import Table

from honeyguide import __version__
from lab.report import LabLimit, LabReport

NOTE = (
    "Computed from the one run: every signup is decided again from its stored terms and evidence, "
    "without the signal. Which emails would have gone out is not played again."
)


def dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def percent(share: float) -> str:
    return f"{share:.1%}"


def tables(report: LabReport) -> list[Table]:
    attacks = _table(
        "Attacks",
        "family",
        *("tried", "charged", "stopped", "refused", "unconfirmed"),
        *("held", "rejected", "emails"),
    )
    for row in report.attacks:
        attacks.add_row(
            f"{row.family} (out of reach)" if row.is_out_of_reach else row.family,
            dollars(row.tried_cents),
            dollars(row.charged_cents),
            percent(row.stopped),
            *map(str, (row.refused, row.unconfirmed, row.held, row.rejected, row.emails)),
        )
    honest = _table(
        "Honest people who confirm",
        "family",
        *("people", "paid at once", "paid later"),
        *("held", "rejected", "emails"),
    )
    for each in report.honest:
        numbers = (each.people, each.paid_at_once, each.paid_later, each.held, each.rejected)
        honest.add_row(each.family, *map(str, (*numbers, each.emails)))
    without = _table("Without one signal", "without", "charged", "honest people held")
    for off in report.switched_off:
        without.add_row(off.name, dollars(off.charged_cents), str(off.honest_held))
    limits = _table("Limits", "limit", "needed", "measured", "met")
    for limit in report.limits:
        limits.add_row(
            limit.name, needed(limit), percent(limit.value), "yes" if limit.is_met else "NO"
        )
    return [attacks, honest, without, limits]


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def needed(limit: LabLimit) -> str:
    return f"{'at least' if limit.is_least else 'at most'} {percent(limit.limit)}"


def as_json(report: LabReport) -> dict[str, Any]:
    return {
        "is_met": report.is_met,
        "tried_cents": report.tried_cents,
        "charged_cents": report.charged_cents,
        "limits": [{**limit._asdict(), "is_met": limit.is_met} for limit in report.limits],
        "attacks": [{**row._asdict(), "stopped": row.stopped} for row in report.attacks],
        "honest": [row._asdict() for row in report.honest],
        "switched_off": [row._asdict() for row in report.switched_off],
    }


def as_page(report: LabReport, *, made_on: str, seed: int, is_short: bool) -> str:
    template = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(
        report=report,
        made_on=made_on,
        version=__version__,
        seed=seed,
        is_short=is_short,
        note=NOTE,
        dollars=dollars,
        percent=percent,
        needed=needed,
    )
