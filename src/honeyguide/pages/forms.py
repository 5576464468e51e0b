"""Forms: parses what was typed into a number, an amount or a path of ours.

What is wrong becomes one sentence next to its field, which names the field as the form does.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from honeyguide.kernel.errors import Fault, Invalid, Required
from honeyguide.kernel.paging import LAST_PAGE, Page

T = TypeVar("T")


class Field(NamedTuple):
    label: str
    """As the form shows it; the sentence names the field by it."""
    ask: str = ""
    """What to say when it is empty, such as "Enter a name."; optional fields have none."""


Fields = Mapping[str, Field]

# The API's own sentence for this is fixed, and too short for a page.
BAD_EMAIL = "Enter a valid email address."


class FormErrors(Invalid):
    """Several fields are wrong at once, or the answer is not a 400."""

    def __init__(self, errors: Mapping[str, str], *, status: int = 400) -> None:
        super().__init__("Check the fields of the form.")
        self.errors = dict(errors)
        self.status = status


def require(fields: Fields, values: Mapping[str, Any], *, unless: Collection[str] = ()) -> None:
    """Refuses the form if a required field is empty; `unless` names those not needed now."""
    if errors := missing(fields, values, unless=unless):
        raise FormErrors(errors)


def missing(
    fields: Fields, values: Mapping[str, Any], *, unless: Collection[str] = ()
) -> dict[str, str]:
    """What to say next to every required field that is empty, all of them at once."""
    return {
        name: field.ask
        for name, field in fields.items()
        if field.ask and name not in unless and not str(values.get(name) or "").strip()
    }


def errors_of(fault: Fault, fields: Fields) -> dict[str, str]:
    """The sentence of a refusal under its field's name, or "" if the form has no such field."""
    if isinstance(fault, FormErrors):
        return fault.errors
    field = fields.get(fault.param or "")
    if field is None or fault.param is None:
        return {"": fault.message}
    if isinstance(fault, Required) and field.ask:
        return {fault.param: field.ask}
    if fault.code == "invalid_email":
        return {fault.param: BAD_EMAIL}
    return {fault.param: fault.message_for(field.label)}


def whole_number(text: str, *, digits: int = 9) -> int | None:
    """A number of at most so many digits, or None. `int` alone would accept "1_000" and "٣"."""
    is_number = text.isascii() and text.isdigit() and len(text) <= digits
    return int(text) if is_number else None


def signed_number(text: str) -> int | None:
    """As `whole_number`, with a sign if there is one."""
    text = text.strip().replace("−", "-")
    number = whole_number(text[1:] if text[:1] in ("+", "-") else text)
    return -number if number is not None and text.startswith("-") else number


def page_number(text: str) -> int:
    """The page that a list's address asks for; the first one if that is no number."""
    if text.isascii() and text.isdigit() and len(text) > len(str(LAST_PAGE)):
        return LAST_PAGE
    return min(whole_number(text, digits=len(str(LAST_PAGE))) or 1, LAST_PAGE)


async def nearest_page(
    query: Mapping[str, str], per_page: int, read: Callable[[Page], Awaitable[tuple[list[T], int]]]
) -> tuple[Page, list[T], int]:
    """The page that a list's address asks for, or the nearest that there is, with its rows and how
    many the list has. So nobody reads that there is nothing where there is something."""
    page = Page(page_number(query.get("page", "")), per_page)
    rows, total = await read(page)
    last = max(1, page.total_pages(total))
    if not rows and page.page > last:
        page = Page(last, per_page)
        rows, total = await read(page)
    return page, rows, total


_AMOUNT = re.compile(r"-?((\d+|\d{1,3}(,\d{3})+)(\.\d*)?|\.\d+)", re.ASCII)


def amount(text: str, *, param: str) -> Decimal:
    """An amount of money as people type it: 2.50, $2.50 or 1,000. A comma elsewhere is refused:
    many write 2,50 for two and a half."""
    if not _AMOUNT.fullmatch(text := text.strip().removeprefix("$").strip()):
        raise Invalid("{field} must be an amount such as 2.50.", param=param)
    return Decimal(text.replace(",", ""))
