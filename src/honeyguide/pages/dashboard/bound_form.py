"""A form for what a struct lets callers set. A `StructForm` is made once, of the struct or two. A
`BoundForm` is one of these with its values: as a page shows it, or as it was sent.

A template writes `{{ form.name(required=true) }}`: value, label and error come with the field.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
from markupsafe import Markup

from honeyguide.kernel import fields, money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.fields import FieldInfo, fields_of
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard.formats import label
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field

S = TypeVar("S", bound=msgspec.Struct)
_UNLABELED = Field("")


class BoundField(NamedTuple):
    name: str
    label: str
    value: Any
    """Text, a list of what is chosen, or whether a box is checked."""
    error: str
    allowed: Collection[str] = ()

    def __call__(self, **options: Any) -> Markup:
        """One line, with the options of the macro `field`."""
        return self._rendered("field", options)

    def area(self, **options: Any) -> Markup:
        """Several lines, with the options of the macro `area`."""
        return self._rendered("area", options)

    def select(self, options: Iterable[tuple[str, str]] = (), **named: Any) -> Markup:
        """A list to choose one from: the words that are allowed, or the page's pairs of value and
        name."""
        return self._rendered("select", {"options": options or self._options(), **named})

    def checks(self, **named: Any) -> Markup:
        """A box for each word that is allowed, to check several."""
        return self._rendered("checks", {"options": self._options(), **named})

    def radios(self, texts: Iterable[tuple[str, str, str]], **named: Any) -> Markup:
        """One of several, each with its value, name and hint."""
        return self._rendered("radios", {"texts": texts, **named})

    def check(self, hint: str = "", **named: Any) -> Markup:
        """One box, for yes or no."""
        given = {"label": self.label, "hint": hint, "type": "checkbox", **named}
        return rendering.macro("choice")(self.name, "1", self.value, **given)

    def _options(self) -> list[tuple[str, str]]:
        return [(word, label(word)) for word in self.allowed]

    def _rendered(self, macro: str, options: dict[str, Any]) -> Markup:
        given = {"label": self.label, "value": self.value, "error": self.error, **options}
        return rendering.macro(macro)(self.name, **given)


class BoundForm:
    def __init__(self, form: StructForm, values: dict[str, Any], errors: Mapping[str, str]) -> None:
        self._form = form
        self._errors = errors
        self.values = values

    def __getitem__(self, name: str) -> BoundField:
        if name not in self.values and name not in self._form.fields:
            raise KeyError(name)
        field = self._form.fields.get(name, _UNLABELED)
        info = self._form.infos.get(name)
        return BoundField(
            name,
            field.label,
            self.values.get(name),
            self._errors.get(name, ""),
            info.allowed if info else (),
        )

    def require(self, *, unless: Collection[str] = ()) -> None:
        """Refuses the form if a required field is empty; `unless` names those not needed now."""
        forms.require(self._form.fields, self.values, unless=unless)

    def missing(self, *, unless: Collection[str] = (), **more: Any) -> dict[str, str]:
        """What to say next to every required field that is empty. `more` are values of fields that
        the struct does not have."""
        return forms.missing(self._form.fields, {**self.values, **more}, unless=unless)

    def valid(
        self,
        struct: type[S],
        *,
        unless: Collection[str] = (),
        wrong: Mapping[str, str] | None = None,
        **instead: Any,
    ) -> S:
        """As `changes`, or everything that is wrong at once: what is missing, what cannot be read,
        what breaks the rule of its field, and what the page found itself (`wrong`)."""
        typed, unreadable = self._read(struct, instead)
        broken = {
            str(problem.param): self._sentence(problem)
            for problem in fields.problems(struct, struct(**typed))
        }
        errors = {**broken, **unreadable, **(wrong or {}), **self.missing(unless=unless)}
        if errors:
            raise forms.FormErrors(errors)
        return struct(**typed, **instead)

    def changes(self, struct: type[S], **instead: Any) -> S:
        """What was typed of the struct's fields, for the domain, which has the rules; `instead` is
        what the page knows better."""
        typed, unreadable = self._read(struct, instead)
        if unreadable:
            raise forms.FormErrors(unreadable)
        return struct(**typed, **instead)

    def _read(
        self, struct: type[S], instead: Collection[str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """The values of the struct's fields, and what to say where there is none to be read."""
        typed: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for name, info in self._form.infos.items():
            if name not in struct.__struct_fields__ or name in instead:
                continue
            try:
                typed[name] = _given(info, self.values[name])
            except Invalid as problem:
                errors[name] = self._sentence(problem)
        return typed, errors

    def _sentence(self, problem: Invalid) -> str:
        (sentence,) = forms.errors_of(problem, self._form.fields).values()
        return sentence


class StructForm:
    """`ask` is what to say when a field is empty, `start` what a new form has in it. `more` are
    fields of the page that no struct has, `leave_out` those of the struct that it does not show."""

    def __init__(
        self,
        *structs: type[msgspec.Struct],
        ask: Mapping[str, str] | None = None,
        start: Mapping[str, Any] | None = None,
        more: Mapping[str, Field] | None = None,
        leave_out: Collection[str] = (),
    ) -> None:
        self.infos = {
            name: info
            for struct in structs
            for name, info in fields_of(struct).items()
            if name not in leave_out
        }
        # Where `form.values` means the form's own, a template could not show a field of that name.
        assert not any(hasattr(BoundForm, name) or name == "values" for name in self.infos)
        # A field without a label has no place for an error of its own on the page.
        self.fields: forms.Fields = {
            name: Field(info.label, (ask or {}).get(name, ""))
            for name, info in self.infos.items()
            if info.label
        } | dict(more or {})
        self._start = start or {}

    def new(self, **instead: Any) -> BoundForm:
        values = {name: _shown(info, info.default) for name, info in self.infos.items()}
        return BoundForm(self, {**values, **self._start, **instead}, {})

    def saved(self, row: Any, **instead: Any) -> BoundForm:
        """As it is stored. `instead` is what the row lacks, or the page shows otherwise."""
        values = {
            name: _shown(info, getattr(row, info.column))
            for name, info in self.infos.items()
            if name not in instead
        }
        return BoundForm(self, {**values, **instead}, {})

    def typed(self, request: PageRequest, **instead: Any) -> BoundForm:
        """As it was sent, with what is wrong with it."""
        values = {name: _typed(info, request) for name, info in self.infos.items()}
        return BoundForm(self, {**values, **instead}, request.errors)


def _shown(info: FieldInfo, stored: Any) -> Any:
    if info.kind is list:
        return stored or []
    if info.kind is bool:
        return bool(stored)
    if stored is None:
        return ""
    return f"{money.dollars(stored):.2f}" if info.unit == "cents" else str(stored)


def _typed(info: FieldInfo, request: PageRequest) -> Any:
    if info.kind is list:
        return request.several(info.name)
    text = request.text(info.name)
    return bool(text) if info.kind is bool else text or _shown(info, info.default)


def _given(info: FieldInfo, value: Any) -> Any:
    """What was typed, as the struct has it. Nothing typed clears a field that may be empty."""
    if info.unit == "cents":
        return forms.amount(value, param=info.name)
    if info.may_be_null and not value:
        return None
    if info.kind is int:
        number = forms.whole_number(value)
        if number is None:
            raise Invalid("{field} must be a whole number.", param=info.name)
        return number
    return value
