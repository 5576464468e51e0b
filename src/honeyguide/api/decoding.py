"""How a body is decoded, and what the error says if it is not what the type asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

import msgspec

from honeyguide.kernel.errors import Invalid

B = TypeVar("B", bound="Body")


class Body(msgspec.Struct, frozen=True):
    """Unknown keys are ignored: old clients send extras."""

    required: ClassVar[tuple[str, ...]] = ()
    # For a create whose fields are those of its update: nulls are dropped before the types are
    # checked, so that the types can say what an update takes.
    drops_nulls: ClassVar[bool] = False
    # Whether it may also come as `multipart/form-data`.
    takes_form: ClassVar[bool] = False
    # Whole examples by name, where those of the fields do not go together.
    samples: ClassVar[Mapping[str, Mapping[str, Any]]] = {}


_decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}
_WRONG_TYPE = re.compile(r"Expected `(.+?)`, got `(.+?)`(?: - at `\$\.?(.*?)`)?$")
_LACKING = re.compile(r"Object missing required field `(.+?)` - at `\$\.(\w+)`$")
_TYPE_NAMES = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number with a fraction",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
NOT_JSON = "The body is not valid JSON."
# As many digits as a whole number may have to be taken from a decimal notation.
_MOST_DIGITS = 18


def _number(text: str) -> int | Decimal:
    """JSON has one type of numbers: 5.0 and 5e0 are the whole number 5."""
    number = Decimal(text)
    is_whole = number.adjusted() < _MOST_DIGITS and number == number.to_integral_value()
    return int(number) if is_whole else number


_untyped: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=_number)


def decode(kind: type[B], raw: bytes) -> B:
    """Decode a JSON body. The error says what is wrong. An empty body is an empty object."""
    raw = raw or b"{}"
    try:
        if not kind.drops_nulls:
            try:
                body: B = _decoder(kind).decode(raw)
                return body
            except msgspec.ValidationError:
                pass  # perhaps only for how a number is written, or a key that comes twice
        fields = _untyped.decode(raw)
    except (msgspec.DecodeError, RecursionError, ValueError, ArithmeticError):
        raise Invalid(NOT_JSON, code="invalid_json") from None
    if kind.drops_nulls and isinstance(fields, dict):
        fields = {name: value for name, value in fields.items() if value is not None}
    return convert(kind, fields)


def _decoder(kind: type[B]) -> msgspec.json.Decoder[B]:
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind, float_hook=Decimal)
    return decoder


def convert(kind: type[B], fields: Any, *, strict: bool = True) -> B:
    """The body with these fields. Not `strict`: from a form, where numbers and flags are text."""
    try:
        body: B = msgspec.convert(fields, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise _explained(kind, str(error)) from None
    return body


def _explained(kind: type[Body], message: str) -> Invalid:
    lacking = _LACKING.fullmatch(message)
    if lacking is not None:
        return Invalid("{field} needs {part}.", param=lacking[2], part=lacking[1])
    match = _WRONG_TYPE.fullmatch(message)
    if match is None:
        return Invalid(NOT_JSON, code="invalid_json")
    expected, got, where = match.groups()
    if not where:
        return Invalid("The body must be a JSON object.", code="invalid_json")
    param, *inside = re.split(r"[.\[]", where)
    kinds = [each.strip() for each in expected.split("|")]
    type_names = {
        "kinds": " or ".join(
            _TYPE_NAMES.get(each, each)
            for each in (kinds if inside else _allowed(kind, param, kinds))
        ),
        "got": _TYPE_NAMES.get(got, got),
    }
    if not inside:
        template = "{field} must be {kinds}, not {got}."
        return Invalid(template, param=param, code="invalid_type", **type_names)
    part = "each item" if inside[0].endswith("]") else inside[0]
    template = "{field}: {part} must be {kinds}, not {got}."
    return Invalid(template, param=param, code="invalid_type", part=part, **type_names)


def _allowed(kind: type[Body], field: str, kinds: list[str]) -> list[str]:
    """What a caller may send: a null that stands for an absent field, if it may be absent."""
    without = [each for each in kinds if each != "null"]
    takes_null = field not in kind.required and (kind.drops_nulls or "null" in kinds)
    return [*without, "null"] if takes_null else without
