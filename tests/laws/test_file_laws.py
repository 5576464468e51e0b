"""Laws on whole files: how long they are, which tests the documents name, where markup is made."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.laws.test_architecture import (
    SOURCE,
    Module,
    files_are_short,
    functions_are_short,
    read,
    sources,
)

ROOT = Path(__file__).parents[2]
# Tables that a line of 100 columns would break into several lines a row.
TABLES = (
    "api/routes.py",
    "mail/notification_kinds.py",
    "operating/backups/credentials.py",
    "pages/dashboard/login/routes.py",
    "pages/dashboard/look/routes.py",
    "pages/dashboard/partners/routes.py",
    "pages/dashboard/people/routes.py",
    "pages/dashboard/rewards/routes.py",
    "pages/dashboard/settings/routes.py",
    "pages/readers/page_texts.py",
    "pages/readers/routes.py",
    "rewards/carriers.py",
    "rewards/earned_states.py",
    "screening/signals.py",
    "work/jobs.py",
)

# Whoever makes markup from text has escaped it first, or drew it without any text of others.
MAKES_MARKUP = {
    "pages/rendering.py": 4,
    "pages/readers/sharing.py": 1,
    "pages/dashboard/login/second_factor.py": 1,
    "pages/templates/icons.html": 1,
}


MARKUP = re.compile(r"\b(?:Markup|format_html)\(|\|\s*safe\b|\bautoescape\b|__html__")


def test_markup_is_made_in_few_places_and_every_one_is_known() -> None:
    """A new place is looked at by a person, and then counted above. `pages/rendering.py`
    and `mail/layout.py` also turn escaping on, once each.
    """
    found = {
        path.relative_to(SOURCE).as_posix(): len(MARKUP.findall(path.read_text(encoding="utf-8")))
        for path in sources("*.py", "*.html")
    }
    escaping = ("pages/rendering.py", "mail/layout.py")
    expected = MAKES_MARKUP | {path: MAKES_MARKUP.get(path, 0) + 1 for path in escaping}
    assert {path: count for path, count in found.items() if count} == expected
    for path in escaping:
        assert "autoescape=True" in (SOURCE / path).read_text(encoding="utf-8")


def test_tables_are_one_row_a_line_of_at_most_140_columns() -> None:
    """The formatter leaves these files alone, and only these may be wider than 100."""
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]
    paths = [f"src/honeyguide/{path}" for path in TABLES]
    assert ruff["format"]["exclude"] == paths
    ignored = ruff["lint"]["per-file-ignores"]
    assert [path for path, rules in ignored.items() if "E501" in rules] == paths
    wide = [
        f"{path}:{number}: {len(line)} columns, over 140"
        for path in paths
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 140
    ]
    assert not wide, "\n" + "\n".join(wide)


@pytest.mark.parametrize(("pattern", "most"), [("*.sql", 110), ("*.css", 120)])
def test_sql_and_style_sheets_are_narrow(pattern: str, most: int) -> None:
    """One clause or declaration a line; migrations that were applied are never edited."""
    wide = [
        f"{path.relative_to(SOURCE)}:{number}: {len(line)} columns, over {most}"
        for path in sources(pattern)
        if path.parent.name != "migrations"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > most
    ]
    assert not wide, "\n" + "\n".join(wide)


# What begins a line in a statement of several lines.
CLAUSE = re.compile(r"\b(?:WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|RETURNING)\b")


def named_statements(sql: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """The name of each statement, its comments and its lines."""
    for block in re.split(r"(?m)^-- (?=name: |fragment: )", sql)[1:]:
        if not block.startswith("name: "):
            continue
        above, *lines = block.rstrip().splitlines()
        comments = [line for line in lines if line.startswith("--")]
        yield above.removeprefix("name: "), comments, lines[len(comments) :]


def purposeless(sql: str) -> list[str]:
    """Statements without a line that says what they are for. `-- touches: …` is for the store."""
    said = set(re.findall(r"(?m)^-- (?!\w+:).*\n-- name: (.*)", sql))
    return [
        name
        for name, comments, _ in named_statements(sql)
        if name not in said and all(re.match(r"-- \w+:", line) for line in comments)
    ]


def crowded(sql: str) -> list[str]:
    """Lines with two clauses, in statements of several lines. Subqueries may be on one line."""
    found = []
    for _, _, lines in named_statements(sql):
        depth = 0
        for line in lines if len(lines) > 1 else ():
            outside = ""
            for mark in re.sub(r"'[^']*'", "''", line):
                depth += (mark in "({[") - (mark in ")}]")
                outside += mark if depth == 0 else " "
            if len(CLAUSE.findall(outside)) > 1 and " DO UPDATE " not in line:
                found.append(line)
    return found


@pytest.mark.parametrize("law", [purposeless, crowded], ids=lambda law: law.__name__)
def test_statements_say_what_they_are_for_one_clause_a_line(
    law: Callable[[str], list[str]],
) -> None:
    complaints = [
        f"{path.relative_to(SOURCE)}: {complaint}"
        for path in sources("*.sql")
        if path.parent.name != "migrations"
        for complaint in law(path.read_text(encoding="utf-8"))
    ]
    assert not complaints, "\n" + "\n".join(complaints)


def test_the_laws_of_sql_see_planted_offenders() -> None:
    bare = "-- name: a\n-- touches: reads b\nSELECT 1;\n"
    assert purposeless(bare) == ["a"]
    assert purposeless(bare.replace("SELECT", "-- The number one.\nSELECT")) == []
    assert purposeless(f"-- The number one.\n{bare}") == []
    assert crowded("-- name: a\nSELECT b FROM c\nWHERE d = 1 ORDER BY e;\n")
    assert not crowded("-- name: a\nSELECT b FROM c\nWHERE d = (SELECT e LIMIT 1)\nORDER BY e;\n")
    assert not crowded("-- name: a\nSELECT b FROM c WHERE d = 1 ORDER BY e;\n")


def test_tests_and_benches_are_short_too() -> None:
    """They are read as often as the source is."""
    root = Path(__file__).parents[2]
    paths = [
        path
        for part in ("tests", "bench", "lab", "release")
        for path in sorted((root / part).rglob("*.py"))
    ]
    found = [
        Module(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
    ]
    laws = (files_are_short, functions_are_short)
    complaints = [
        f"{module.path}:{complaint}"
        for module in found
        for law in laws
        for complaint in law(module)
    ]
    assert not complaints, "\n" + "\n".join(complaints)


def test_style_sheets_and_scripts_of_ours_are_short() -> None:
    complaints = [
        f"{module.path}:{text}"
        for module in map(read, sources("*.css", "*.js"))
        for text in files_are_short(module)
    ]
    assert not complaints, "\n" + "\n".join(complaints)


def test_documents_name_tests_that_exist() -> None:
    root = Path(__file__).parents[2]
    for page in (root / "ARCHITECTURE.md", *sorted((root / "docs" / "decisions").glob("*.md"))):
        named = re.findall(r"`(tests/[\w/]+\.py|bench/\w+\.py)`", page.read_text(encoding="utf-8"))
        assert named, f"{page.name} names no test"
        assert [path for path in named if not (root / path).exists()] == [], page.name


def test_every_test_lies_in_the_folder_of_its_package() -> None:
    """So that whoever changes a package runs its tests alone."""
    tests = Path(__file__).parents[1]
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    folders = packages | {"browser", "lab", "laws", "serving"}
    places = [path.relative_to(tests) for path in tests.rglob("test_*.py")]
    assert [path.as_posix() for path in places if path.parts[0] not in folders] == []
