"""Templates can be read: short lines, one element per line. Other tests check what pages say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parent.parent / "src" / "honeyguide" / "pages" / "templates"
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
        for complaint in complaints(path.read_text(encoding="utf-8"))
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
