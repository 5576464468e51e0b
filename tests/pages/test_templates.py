"""Templates can be read: short lines, one element per line. Other tests check what pages say."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[2] / "src" / "honeyguide" / "pages" / "templates"
ICONS = TEMPLATES / "icons.html"  # drawings, one on a line, which nobody reads as markup
LINE_COLUMNS = 120
TAGS_PER_LINE = 2  # A list item and the link in it; inline elements belong to their sentence.
BLOCK_TAG = re.compile(
    r"<(?:article|aside|dd|details|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|iframe|label"
    r"|legend|li|link|main|meta|nav|noscript|ol|option|p|path|pre|rect|script|section|select|summary"
    r"|svg|t[dhr]|table|tbody|textarea|tfoot|thead|title|ul)\b"
)


def complaints(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > LINE_COLUMNS:
            yield f"{number}: {len(line)} columns, over {LINE_COLUMNS}; wrap it"
        if (tags := len(BLOCK_TAG.findall(line))) > TAGS_PER_LINE:
            yield f"{number}: {tags} elements, over {TAGS_PER_LINE}; give each a line of its own"


def test_every_template_has_short_lines_with_one_element() -> None:
    found = [
        f"{path.relative_to(TEMPLATES)}:{complaint}"
        for path in sorted(TEMPLATES.rglob("*.html"))
        if path != ICONS
        for complaint in complaints(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


# Names that people choose: their own, a newsletter's, a partner's. `X.name or X.email` is a person.
NAME_PRINTED = re.compile(
    r"(?P<before>\S*)\{\{-?\s*\(?(?:[\w.]+\.name or [\w.]+\.email"
    r"|[\w.]*\b(?:campaign|partner|publication|referrer|subscriber)_name)\b"
)
# Isolated, or in an attribute, which is not shown.
MAY_PRECEDE_A_NAME = re.compile(r"<bdi>$|dir=\"auto\">$|=\"[^\">]*$")


def names_without_bdi(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if "{% block " in line:  # the title of the page, which is not markup
            continue
        for found in NAME_PRINTED.finditer(line):
            if not MAY_PRECEDE_A_NAME.search(found["before"]):
                yield f"{number}: {found[0]}"


def test_names_are_isolated_from_the_text_around_them() -> None:
    """A right-to-left name would otherwise reorder the words and numbers beside it."""
    found = [
        f"{path.relative_to(TEMPLATES)}:{complaint}"
        for path in sorted((TEMPLATES / "dashboard").glob("*.html"))
        for complaint in names_without_bdi(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "culprit",
    [
        '<p class="muted">' + "word " * 24 + "</p>",
        "<tr><td>Fee</td><td>$2</td></tr>",
        "{% for row in rows %}<li><details><summary>{{ row }}</summary></details></li>{% endfor %}",
    ],
)
def test_the_law_sees_a_culprit(culprit: str) -> None:
    assert list(complaints(f"<main>\n{culprit}\n</main>"))


def test_the_law_leaves_sentences_alone() -> None:
    sentence = 'Send <b>it</b> with <code>email=</code> and <a href="/docs">read on</a>.'
    assert not list(complaints(f"<div>\n  <p>{sentence}</p>\n  <li><a>One</a></li>\n</div>"))


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("<td>{{ row.partner_name }}</td>", True),
        ("<b>{{ (person.name or person.email)|wrapping }}</b>", True),
        ("referred by {{ person.referrer_name or person.referrer_email }}", True),
        ("<td><bdi>{{ row.partner_name }}</bdi></td>", False),
        ('<a title="{{ person.name or person.email }}">', False),
        ("{% block name %}{{ person.name or person.email }}{% endblock %}", False),
    ],
)
def test_the_law_of_names_sees_a_culprit(line: str, is_wrong: bool) -> None:
    assert bool(list(names_without_bdi(line))) == is_wrong
