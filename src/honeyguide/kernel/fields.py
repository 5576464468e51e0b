"""The fields of a struct of what callers may set: what each is called on a page, the rule that its
value must keep, the column that holds it and what a new row gets without it.

A field says so in its type, by `public.doc`. So whatever goes over all fields (checks, SQL, forms)
asks here and names none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from json import dumps
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType, json

from honeyguide.kernel.errors import Invalid


class FieldInfo(NamedTuple):
    name: str
    kind: type
    """Of its value: `str`, `int`, `bool`, `list`, or `object` for an amount of money."""
    may_be_null: bool
    label: str
    rule: Callable[..., Any] | None
    unit: str
    default: Any
    allowed: tuple[str, ...]
    """The words that it can be, or can have; empty if any."""

    @property
    def column(self) -> str:
        return f"{self.name}_{self.unit}" if self.unit else self.name

    @property
    def has_default(self) -> bool:
        return self.may_be_null or self.default is not None

    def stored(self, value: Any) -> Any:
        """The value as its column holds it, or a refusal: flags are 0 and 1, lists are JSON."""
        if value is None and self.may_be_null:
            return None
        if self.rule is not None:
            value = self.rule(value, param=self.name)
        return _in_column(value)


def _in_column(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict):
        return json.encode(value).decode()
    return dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def plain_types(hint: Any) -> tuple[set[type], dict[str, Any]]:
    """The types of an annotation without its descriptions, and what these say."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *metas = get_args(hint)
        kinds, about = plain_types(inner)
        for meta in metas:
            about |= (meta.extra or {}) if isinstance(meta, Meta) else {}
        return kinds, about
    if origin in (Union, UnionType):
        kinds, about = set(), {}
        for part in get_args(hint):
            more_kinds, more = plain_types(part)
            kinds, about = kinds | more_kinds, about | more
        return kinds, about
    return {object if hint is Any else origin or hint}, {}


@cache
def fields_of(struct: type[Struct]) -> dict[str, FieldInfo]:
    """All fields of the struct, by name."""
    hints = get_type_hints(struct, include_extras=True)
    return {name: _field(name, hints[name]) for name in struct.__struct_fields__}


def _field(name: str, hint: Any) -> FieldInfo:
    kinds, about = plain_types(hint)
    (kind,) = kinds - {UnsetType, NoneType}
    return FieldInfo(
        name=name,
        kind=kind,
        may_be_null=NoneType in kinds,
        label=about.get("label", ""),
        rule=about.get("rule"),
        unit=about.get("unit", ""),
        default=about.get("default"),
        allowed=about.get("allowed", ()),
    )


def columns(struct: type[Struct]) -> tuple[str, ...]:
    return tuple(field.column for field in fields_of(struct).values())


def as_stored(row: Any, names: Iterable[str]) -> dict[str, Any]:
    """These columns of a row, as the database and the change log have them."""
    return {name: _in_column(getattr(row, name)) for name in names}


def checked(struct: type[Struct], given: Struct) -> dict[str, Any]:
    """The columns of what was given, each by its rule. `given` is a `struct`, or inherits it."""
    return {
        field.column: field.stored(value)
        for name, field in fields_of(struct).items()
        if (value := getattr(given, name)) is not UNSET
    }


def defaults(struct: type[Struct]) -> dict[str, Any]:
    """The columns of a new row for which nothing was given."""
    return {
        field.column: field.stored(field.default)
        for field in fields_of(struct).values()
        if field.has_default
    }


def problems(struct: type[Struct], given: Struct) -> Iterator[Invalid]:
    """Everything that is wrong with what was given."""
    for name, field in fields_of(struct).items():
        try:
            if (value := getattr(given, name)) is not UNSET:
                field.stored(value)
        except Invalid as problem:
            yield problem
