"""Which page a query asks for, and what its `Link` header says. Pure rules, without a server."""

import re

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page, links, parse_page


def test_the_first_fifty_are_the_default():
    assert parse_page(None, None) == Page() == Page(1, 50)


@pytest.mark.parametrize(
    ("page", "per_page", "expected"),
    [
        ("1", "1", Page(1, 1)),
        ("007", "0020", Page(7, 20)),
        ("2", "200", Page(2, 200)),
        ("2", "201", Page(2, 200)),
        ("2", "9" * 5_000, Page(2, 200)),
        ("1000000000", None, Page(1_000_000_000, 50)),
    ],
)
def test_whole_numbers_are_taken_and_at_most_200_come_per_page(page, per_page, expected):
    assert parse_page(page, per_page) == expected


@pytest.mark.parametrize("text", ["", "0", "000", "-1", "+1", "1.5", "1e3", " 1", "x", "１", "²"])
@pytest.mark.parametrize("param", ["page", "per_page"])
def test_anything_else_is_refused_by_name(text, param):
    with pytest.raises(
        Invalid, match=f"^{param} must be a whole number of at least 1\\.$"
    ) as raised:
        parse_page(**{"page": None, "per_page": None, param: text})
    assert raised.value.param == param


@pytest.mark.parametrize("text", ["1000000001", "9" * 5_000])
def test_a_page_past_every_list_is_refused(text):
    with pytest.raises(Invalid, match=r"^page must be at most 1,000,000,000\.$"):
        parse_page(text, None)


@pytest.mark.parametrize(("page", "skip"), [(Page(1, 50), 0), (Page(2, 50), 50), (Page(3, 20), 40)])
def test_what_a_page_skips(page, skip):
    assert page.skip == skip


@pytest.mark.parametrize(("total", "pages"), [(0, 0), (1, 1), (20, 1), (21, 2), (40, 2), (41, 3)])
def test_how_many_pages_there_are(total, pages):
    assert Page(1, 20).total_pages(total) == pages


@pytest.mark.parametrize(
    ("page", "total", "expected"),
    [
        (1, 0, {}),
        (2, 0, {}),
        (1, 1, {"first": 1, "last": 1}),
        (2, 1, {"first": 1, "prev": 1, "last": 1}),
        (1, 21, {"first": 1, "next": 2, "last": 2}),
        (2, 41, {"first": 1, "prev": 1, "next": 3, "last": 3}),
        (3, 41, {"first": 1, "prev": 2, "last": 3}),
        (9, 41, {"first": 1, "prev": 3, "last": 3}),
    ],
)
def test_links_lead_to_pages_that_exist(page, total, expected):
    header = links("https://hg.example/x", {}, Page(page, 20), total)
    found = re.findall(r'<https://hg\.example/x\?page=(\d+)&per_page=20>; rel="(\w+)"', header)
    assert {rel: int(number) for number, rel in found} == expected
    assert header.count("<") == len(found)


def test_links_keep_the_rest_of_the_query():
    header = links("/x", {"q": "a b", "type": "all"}, Page(1, 20), 5)
    assert header.startswith('</x?q=a+b&type=all&page=1&per_page=20>; rel="first", ')
