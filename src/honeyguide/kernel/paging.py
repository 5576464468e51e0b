"""Pages of a list: what a caller may ask for, and what `meta` and `Link` say about it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from honeyguide.kernel.errors import Invalid

PER_PAGE = 50
MOST_PER_PAGE = 200
LAST_PAGE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Page:
    page: int = 1
    per_page: int = PER_PAGE

    @property
    def skip(self) -> int:
        return (self.page - 1) * self.per_page

    def total_pages(self, total: int) -> int:
        return -(-total // self.per_page)


def _whole(text: str, *, param: str) -> int:
    digits = text.lstrip("0")
    # Python refuses to read numbers of thousands of digits; 20 are past every limit of ours.
    if not (text.isascii() and text.isdigit()) or (number := int(digits[:20] or "0")) < 1:
        raise Invalid("{field} must be a whole number of at least 1.", param=param)
    return number


def parse_page(page: str | None, per_page: str | None) -> Page:
    """The page of the query string; more than 200 per page is served as 200."""
    parsed = Page(
        1 if page is None else _whole(page, param="page"),
        PER_PAGE if per_page is None else min(_whole(per_page, param="per_page"), MOST_PER_PAGE),
    )
    if parsed.page > LAST_PAGE:
        raise Invalid("{field} must be at most {most:,}.", param="page", most=LAST_PAGE)
    return parsed


def links(address: str, query: dict[str, str], page: Page, total: int) -> str:
    """An RFC 8288 `Link` header: first, prev, next, last, as far as each exists."""
    last = page.total_pages(total)
    targets = {"first": 1, "prev": min(page.page - 1, last), "next": page.page + 1, "last": last}
    exists = {
        "first": last > 0,
        "prev": page.page > 1 and last > 0,
        "next": page.page < last,
        "last": last > 0,
    }
    kept = f"{urlencode(query)}&" if query else ""
    return ", ".join(
        f'<{address}?{kept}page={number}&per_page={page.per_page}>; rel="{rel}"'
        for rel, number in targets.items()
        if exists[rel]
    )
