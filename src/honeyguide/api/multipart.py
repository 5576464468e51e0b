"""Multipart forms, for endpoints that take a file: the parts become fields of the body's type."""

from __future__ import annotations

import base64
import typing
from io import BytesIO
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from honeyguide.api.bodies import Body
from honeyguide.kernel.errors import Invalid

MOST_PARTS = 50
NOT_A_FORM = "The multipart body cannot be read."


def is_form(content_type: bytes | None) -> bool:
    return content_type is not None and content_type.lower().startswith(b"multipart/form-data")


def fields_of(raw: bytes, content_type: bytes, kind: type[Body]) -> dict[str, Any]:
    """Text parts as text and file parts as base64, the same as in JSON. A list is a repeated field,
    with or without `[]`."""
    lists = {name for name, hint in typing.get_type_hints(kind).items() if "list[" in str(hint)}
    fields: dict[str, Any] = {}
    for name, is_file, data in _parts(raw, content_type):
        name = name.removesuffix("[]")
        if is_file:
            fields[name] = base64.b64encode(data).decode()
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Invalid("{field} is not valid UTF-8.", param=name) from None
        if name in lists:
            fields.setdefault(name, []).append(text)
        else:
            fields[name] = text
    return fields


def _parts(raw: bytes, content_type: bytes) -> list[tuple[str, bool, bytes]]:
    boundary = parse_options_header(content_type)[1].get(b"boundary")
    if not boundary:
        raise Invalid(NOT_A_FORM)
    collector = _Collector()
    try:
        parser = MultipartParser(boundary, collector.callbacks())  # type: ignore[arg-type]
        parser.write(raw)
        parser.finalize()
    except FormParserError:
        raise Invalid(NOT_A_FORM) from None
    if not collector.ended:
        raise Invalid(NOT_A_FORM)
    return collector.parts


class _Collector:
    """Collects the parts that the parser finds."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, bool, bytes]] = []
        self.ended = False
        self._name, self._value, self._data = b"", b"", BytesIO()
        self._headers: dict[bytes, bytes] = {}

    def callbacks(self) -> dict[str, Any]:
        return {
            "on_part_begin": self._begin,
            "on_part_data": self._more,
            "on_part_end": self._end,
            "on_header_field": self._field,
            "on_header_value": self._text,
            "on_header_end": self._header,
            "on_end": self._finish,
        }

    def _begin(self) -> None:
        self._headers, self._data = {}, BytesIO()

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _text(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _more(self, data: bytes, start: int, end: int) -> None:
        self._data.write(data[start:end])

    def _end(self) -> None:
        options = parse_options_header(self._headers.get(b"content-disposition", b""))[1]
        if b"name" not in options or len(self.parts) >= MOST_PARTS:
            raise Invalid(NOT_A_FORM)
        name = options[b"name"].decode(errors="replace")
        self.parts.append((name, b"filename" in options, self._data.getvalue()))

    def _finish(self) -> None:
        self.ended = True
