"""The forms in which subscribers are exported: ours, which has everything, and the one that another
tool imports, for whoever moves there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Self

from honeyguide.kernel.site import Site
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.moving import exporting
from honeyguide.moving.exporting import ExportedRow
from honeyguide.subscribers.referral_states import Status

_Line = Callable[[Site, ExportedRow], Iterable[str | int]]

SPARKLOOP_COLUMNS = ("Email", "Name", "Registration Date", "IP Address", "Referrer", "Source")


def _sparkloop_line(site: Site, exported: ExportedRow) -> tuple[str, ...]:
    """As SparkLoop's import takes it. It knows the referrer by email address; a code of ours would
    mean nothing to it. It would count a rejected referral, so that is left out."""
    row = exported.subscriber
    is_referral = row.referral_status != Status.REJECTED
    return (
        row.email,
        row.name or "",
        f"{datetime.fromtimestamp(row.created_ms // 1000, UTC):%d/%m/%Y %H:%M}",
        row.ip_address or "",
        (row.referrer_email or "") if is_referral else "",
        row.utm_source or "",
    )


class ExportFormat(StrEnum):
    columns: tuple[str, ...]
    _line: _Line
    has_status: bool
    """Others would subscribe people again who left, so these are left out."""

    def __new__(cls, key: str, *facts: Any) -> Self:
        form = str.__new__(cls, key)
        form._value_ = key
        form.columns, form._line, form.has_status = facts
        return form

    HONEYGUIDE = "honeyguide", exporting.COLUMNS, exporting.line, True
    SPARKLOOP = "sparkloop", SPARKLOOP_COLUMNS, _sparkloop_line, False

    @property
    def header(self) -> str:
        return csv_text([self.columns])

    def text(self, site: Site, rows: Iterable[ExportedRow]) -> str:
        return csv_text(self._line(site, row) for row in rows if self._has(row))

    def count_lines(self, rows: Iterable[ExportedRow]) -> int:
        return sum(self._has(row) for row in rows)

    def _has(self, row: ExportedRow) -> bool:
        return self.has_status or row.subscriber.status != "unsubscribed"
