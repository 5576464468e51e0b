"""CHANGELOG.md: one section for each version, the newest first, dated, and what to know before an
upgrade at its top.
"""

import re
import tomllib
from datetime import date
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text()
HEADING = re.compile(r"^## (\d+)\.(\d+)\.(\d+) \((\d{4}-\d\d-\d\d)\)$", re.M)


def test_the_newest_version_is_the_one_of_the_package() -> None:
    newest = HEADING.search(TEXT)
    assert newest is not None
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert ".".join(newest.groups()[:3]) == version


def test_versions_are_dated_and_fall() -> None:
    headings = re.findall(r"^## .*$", TEXT, re.M)
    if headings[0] == "## Unreleased":
        del headings[0]
    found = [HEADING.fullmatch(heading) for heading in headings]
    assert all(found), headings
    versions = [tuple(map(int, one.groups()[:3])) for one in found if one]
    dates = [date.fromisoformat(one[4]) for one in found if one]
    assert all(newer > older for newer, older in pairwise(versions))
    assert all(newer >= older for newer, older in pairwise(dates))


def test_what_to_know_before_an_upgrade_comes_first() -> None:
    for section in re.split(r"(?m)^## ", TEXT)[1:-1]:  # nothing is older than the last one
        parts = re.findall(r"(?m)^\*\*(.+)\*\*$", section)
        assert parts[0] == "Upgrade notes" and len(parts) == len(set(parts)), section[:40]
