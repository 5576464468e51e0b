"""docs/decisions/README.md lists every decision with its title, date and status."""

import re
from pathlib import Path

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
FEWER_LINES_THAN = 50
ROW = re.compile(r"\| (\d+) \| (?:\[(.+)\]\((.+)\)|[^\[|]+) \| (\d{4}-\d\d-\d\d) \| (.+) \|")
STATUS = re.compile(r"accepted|superseded by (\d+)")


def wrong_rows(index: str, pages: dict[str, str]) -> list[str]:
    """What the index says about pages that is not so, and which pages it leaves out."""
    rows = [ROW.fullmatch(line) for line in index.splitlines() if re.match(r"\| \d", line)]
    if None in rows:
        return ["a row has another form"]
    linked = {row[3]: row for row in rows if row and row[3]}
    numbers = [int(row[1]) for row in rows if row]
    wrong = [f"{name} is not listed" for name in pages if name not in linked]
    if numbers != [*range(1, len(numbers) + 1)]:
        wrong.append("the numbers have a gap")
    for name, row in linked.items():
        status = STATUS.fullmatch(row[5])
        heading = pages.get(name, "").partition("\n")[0]
        if heading != f"# {row[1]}. {row[2]}" or not name.startswith(f"{row[1]:0>4}-"):
            wrong.append(f"{name} has another number or title")
        if status is None:
            wrong.append(f"{name} has no status")
        elif status[1] and not re.search(rf"decision {status[1]}\]", pages.get(name, "")):
            wrong.append(f"{name} does not say that decision {status[1]} replaces it")
    return wrong


def read_pages() -> dict[str, str]:
    return {
        path.name: path.read_text(encoding="utf-8") for path in sorted(DECISIONS.glob("[0-9]*.md"))
    }


def test_the_index_lists_every_decision() -> None:
    pages = read_pages()
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    assert len(pages) > 20 and wrong_rows(index, pages) == []


def test_decisions_are_short() -> None:
    lines = {name: len(text.splitlines()) for name, text in read_pages().items()}
    assert {name: n for name, n in lines.items() if n >= FEWER_LINES_THAN} == {}


def test_a_wrong_index_is_seen() -> None:
    pages = {"0001-one.md": "# 1. One\n", "0002-two.md": "# 2. Two\n"}
    one, two = (
        f"| {n} | [{title}](000{n}-{title.lower()}.md) | 2026-11-15 | accepted |"
        for n, title in ((1, "One"), (2, "Two"))
    )
    assert wrong_rows(f"{one}\n{two}", pages) == []
    assert wrong_rows(one, pages) == ["0002-two.md is not listed"]
    for row in (
        two.replace("[Two]", "[Too]"),
        two.replace("| 2 |", "| 3 |"),
        two.replace("accepted", "maybe"),
        two.replace("accepted", "superseded by 1"),
        two.replace("2026-11-15", "in autumn"),
    ):
        assert wrong_rows(f"{one}\n{row}", pages), row
