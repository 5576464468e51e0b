"""Multipart forms, for endpoints that take a file: the parts become fields of the body's type."""

from __future__ import annotations

import base64
import typing
from collections.abc import AsyncGenerator
from typing import Any

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from honeyguide.api.decoding import Body
from honeyguide.api.transport import BODY_LIMIT
from honeyguide.kernel.errors import Invalid

MOST_PARTS = 50
NOT_A_FORM = "The multipart body cannot be read."


def is_form(content_type: bytes | None) -> bool:
    return content_type is not None and content_type.lower().startswith(b"multipart/form-data")


async def fields_of(raw: bytes, content_type: bytes, kind: type[Body]) -> dict[str, Any]:
    """Text parts as text and file parts as base64, the same as in JSON. A list is a repeated field,
    with or without `[]`."""
    lists = {name for name, hint in typing.get_type_hints(kind).items() if "list[" in str(hint)}
    fields: dict[str, Any] = {}
    for part, value in (await _parse(raw, content_type)).multi_items():
        name = part.encode("latin-1", "replace").decode(errors="replace").removesuffix("[]")
        if isinstance(value, UploadFile):
            fields[name] = base64.b64encode(await value.read()).decode()
            continue
        try:
            text = value.encode("latin-1").decode()
        except UnicodeError:
            raise Invalid("{field} is not valid UTF-8.", param=name) from None
        if name in lists:
            fields.setdefault(name, []).append(text)
        else:
            fields[name] = text
    return fields


class _Parser(MultiPartParser):
    spool_max_size = BODY_LIMIT  # files stay in memory: the body is no larger
    has_ended = False

    def on_end(self) -> None:
        self.has_ended = True


async def _parse(raw: bytes, content_type: bytes) -> FormData:
    # Starlette decodes what is not UTF-8 as Latin-1, silently. Asked for Latin-1, it loses no byte.
    headers = Headers(raw=[(b"content-type", content_type + b"; charset=latin-1")])
    parser = _Parser(
        headers,
        _stream(raw),
        max_files=MOST_PARTS,
        max_fields=MOST_PARTS,
        max_part_size=BODY_LIMIT,
    )
    try:
        form = await parser.parse()
    except MultiPartException:
        raise Invalid(NOT_A_FORM) from None
    if not parser.has_ended or len(form.multi_items()) > MOST_PARTS:
        raise Invalid(NOT_A_FORM)
    return form


async def _stream(raw: bytes) -> AsyncGenerator[bytes, None]:
    yield raw
