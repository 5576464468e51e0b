"""What a page reads of a request, and what its answer says apart from what differs by itself."""

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.pages import dashboard
from honeyguide.pages.dashboard.page_request import PageRequest


class Names(set[str]):
    """The names of the fields and parameters that a page has read."""

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        names, read_query = self, PageRequest.query.fget  # type: ignore[attr-defined]
        text, several, file = PageRequest.text, PageRequest.several, PageRequest.file

        class Query(dict[str, str]):
            def get(self, name: str, otherwise: Any = None) -> Any:
                names.add(name)
                return super().get(name, otherwise)

            def __getitem__(self, name: str) -> str:
                names.add(name)
                return super().__getitem__(name)

        def noting(read: Callable[..., Any]) -> Callable[..., Any]:
            def reads(request: PageRequest, name: str) -> Any:
                names.add(name)
                return read(request, name)

            return reads

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PageRequest, "query", property(lambda self: Query(read_query(self))))
            for name, read in (("text", text), ("several", several), ("file", file)):
                patch.setattr(PageRequest, name, noting(read))
            yield


_READ = {
    # `_sql.query` names a statement.
    "GET": re.compile(r'(?<!_sql\.)query(?:\.get)?[(\[]"([a-z_]+)"'),
    "POST": re.compile(r'\.(?:text|several|file)\("([a-z_]+)"'),
}


def names_in(method: str, *modules: Path) -> set[str]:
    """Every parameter (GET) or field (POST) that the source of these modules reads by name."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    return set(_READ[method].findall(source))


def names_in_dashboard() -> set[str]:
    modules = sorted(Path(dashboard.__file__).parent.rglob("*.py"))
    return names_in("GET", *modules) | names_in("POST", *modules)


def comparable(answer: Any, given: str) -> tuple[int, str, str]:
    """An answer without what differs by itself: tokens, times, and what was sent."""
    assert answer.status_code < 500, answer.url
    body = re.sub(r'value="[0-9a-f]{128}"|\d\d:\d\d(:\d\d)?|[0-9a-f]{64}', "", answer.text)
    where = answer.headers.get("location", "")
    for spelling in (given, quote(given), quote_plus(given)):
        body, where = body.replace(spelling, "…"), where.replace(spelling, "…")
    return answer.status_code, where, body


def shape_of(value: str) -> str:
    return "email" if "@" in value else "id" if "-" in value else "code"


def nobodys(like: str) -> str:
    """What looks like it and is nobody's."""
    made = {"email": f"{new_id()[-12:]}@example.org", "id": new_id(), "code": "zzzzzzzz"}
    return made[shape_of(like)]
