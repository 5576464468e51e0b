"""What a form says when something is wrong: one sentence next to each field, in the words of the form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from honeyguide.kernel.errors import Fault, Required


class Field(NamedTuple):
    label: str
    """As the form shows it; the sentence names the field by it."""
    ask: str = ""
    """What to say when it is empty, such as "Enter a name."; optional fields have none."""


Fields = Mapping[str, Field]

# The API's own sentence for this is fixed, and too short for a page.
BAD_EMAIL = "Enter a valid email address."


def missing(
    fields: Fields, values: Mapping[str, Any], *, unless: Collection[str] = ()
) -> dict[str, str]:
    """What to say next to every required field that is empty, all of them at once; `unless` names those not needed now."""
    return {
        name: field.ask
        for name, field in fields.items()
        if field.ask and name not in unless and not str(values.get(name) or "").strip()
    }


def errors_of(fault: Fault, fields: Fields) -> dict[str, str]:
    """The sentence of a refusal under the name of its field, or under "" if the form has no such field."""
    field = fields.get(fault.param or "")
    if field is None or fault.param is None:
        return {"": fault.message}
    if isinstance(fault, Required) and field.ask:
        return {fault.param: field.ask}
    if fault.code == "invalid_email":
        return {fault.param: BAD_EMAIL}
    return {fault.param: fault.message_for(field.label)}
