"""A report as tables for a terminal, as one HTML page, and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
from rich.table import Table

from honeyguide import __version__
from lab.owner import Setting
from lab.report import AttackRow, LabLimit, LabReport

NOTE = (
    "Computed from the one run: every signup is decided again from its stored terms and evidence, "
    "without the signal. Which emails would have gone out is not played again."
)


def dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def mills(amount: int) -> str:
    """An amount in tenths of a cent."""
    return f"${amount / 1000:,.3f}"


def percent(share: float) -> str:
    return f"{share:.1%}"


def remark(row: AttackRow) -> str:
    return "out of reach" if row.is_out_of_reach else "expert" if row.is_expert else ""


def tables(report: LabReport) -> list[Table]:
    attacks = _table(
        "Attacks",
        "family",
        *("tried", "charged", "stopped", "refused", "unconfirmed"),
        *("held", "rejected", "emails", "costs each", "makes each"),
    )
    for row in report.attacks:
        attacks.add_row(
            f"{row.family} ({note})" if (note := remark(row)) else row.family,
            dollars(row.tried_cents),
            dollars(row.charged_cents),
            percent(row.stopped),
            *map(str, (row.refused, row.unconfirmed, row.held, row.rejected, row.emails)),
            mills(row.cost_mills),
            mills(row.profit_mills),
        )
    honest = _table(
        "Honest people who confirm",
        "family",
        *("people", "paid at once", "paid later"),
        *("held", "rejected", "emails"),
    )
    for each in report.honest:
        numbers = (each.people, each.paid_at_once, each.paid_later, each.held, each.rejected)
        name = f"{each.family} (a group)" if each.is_group else each.family
        honest.add_row(name, *map(str, (*numbers, each.emails)))
    framed = _table(
        "Honest partners who are attacked",
        "family",
        *("forms", "emails to strangers", "readers", "paid"),
        *("no email in 10 minutes", "in an hour", "in a day"),
    )
    for each_framed in report.framed:
        framed.add_row(
            each_framed.family,
            *map(str, (each_framed.forms, each_framed.emails_to_strangers)),
            *map(str, (each_framed.people, each_framed.paid, *each_framed.unwritten)),
        )
    without = _table("Without one signal", "without", "charged", "honest people held")
    for off in report.switched_off:
        without.add_row(off.name, dollars(off.charged_cents), str(off.honest_held))
    limits = _table("Limits", "limit", "needed", "measured", "met")
    for limit in report.limits:
        limits.add_row(
            limit.name, needed(limit), percent(limit.value), "yes" if limit.is_met else "NO"
        )
    return [attacks, honest, framed, without, limits]


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
        "attacks": [
            {**row._asdict(), "stopped": row.stopped, "profit_mills": row.profit_mills}
            for row in report.attacks
        ],
        "framed": [{**row._asdict(), "lost": row.lost} for row in report.framed],
        "honest": [row._asdict() for row in report.honest],
        "switched_off": [row._asdict() for row in report.switched_off],
    }


def as_page(report: LabReport, setting: Setting, *, made_on: str, seed: int, is_short: bool) -> str:
    template = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(
        report=report,
        setting=setting.value,
        made_on=made_on,
        version=__version__,
        seed=seed,
        is_short=is_short,
        note=NOTE,
        dollars=dollars,
        mills=mills,
        remark=remark,
        percent=percent,
        needed=needed,
    )
