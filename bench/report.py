"""Tables for the terminal and for RESULTS.md, where each bench owns a section and leaves the others
alone.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

RESULTS = Path(__file__).parent / "RESULTS.md"
console = Console(width=None if sys.stdout.isatty() else 140)


@dataclass
class Table:
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    note: str = ""

    def show(self) -> None:
        shown = RichTable(
            title=self.title,
            title_justify="left",
            caption=self.note or None,
            caption_justify="left",
        )
        for number, column in enumerate(self.columns):
            shown.add_column(column, justify="left" if number == 0 else "right")
        for row in self.rows:
            shown.add_row(*row)
        console.print(shown)

    def markdown(self) -> str:
        lines = [
            f"### {self.title}",
            "",
            f"| {' | '.join(self.columns)} |",
            f"|---|{'---:|' * (len(self.columns) - 1)}",
        ]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join(lines) + (f"\n\n{self.note}" if self.note else "")


def machine() -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} cores, {platform.system()} on {platform.machine()}, {python}"


def verdict(ratio: float, target: float | None, *, at_most: bool = False) -> tuple[str, str]:
    """The target as text, and whether it was reached."""
    if target is None:
        return "", ""
    reached = ratio <= target if at_most else ratio >= target
    return f"{'≤' if at_most else '≥'} {target:.2f}", "yes" if reached else "NO"


def write(name: str, about: str, tables: list[Table]) -> None:
    """Replaces the section of this bench in RESULTS.md; what was written by hand around it
    stays.
    """
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    begin, end = f"<!-- bench {name} -->", f"<!-- end {name} -->"
    section = "\n\n".join(
        [
            begin,
            f"## {about}",
            f"Measured on {machine()}.",
            *(table.markdown() for table in tables),
            end,
        ]
    )
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    text = (
        pattern.sub(lambda _: section, text)
        if pattern.search(text)
        else f"{text.rstrip()}\n\n{section}\n"
    )
    RESULTS.write_text(text, encoding="utf-8")
