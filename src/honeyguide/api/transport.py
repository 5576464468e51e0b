"""ASGI: reading a bounded body, finding the route, writing JSON. No framework, for speed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from honeyguide.api.call import Route
from honeyguide.kernel.errors import Fault, Invalid, Required
from honeyguide.kernel.ids import lowercase_id

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# On answers for machines: if a browser is made to show one, it runs nothing and is in no frame.
NOTHING_RUNS = b"default-src 'none'; frame-ancestors 'none'"
BODY_LIMIT = 2 * 1024 * 1024
BODY_S = 20.0
QUERY_FIELDS = 50
UNKNOWN_PATH = "Not found. Check the path."


class TooLarge(Fault):
    code = "too_large"
    status = 413


class Slow(Fault):
    code = "timeout"
    status = 408


class NotJson(Fault):
    code = "unsupported_media_type"
    status = 415


class Unknown(Fault):
    code = "not_found"
    status = 404


class WrongMethod(Fault):
    code = "method_not_allowed"
    status = 405

    def __init__(self, allowed: list[str]) -> None:
        super().__init__("Method not allowed; use {allowed}.", allowed=" or ".join(allowed))
        self.allowed = allowed


def error_body(fault: Fault, request_id: str) -> dict[str, str]:
    """What every refusal says, in its one shape."""
    body = {"error": fault.message, "code": fault.code}
    if fault.param is not None:
        body["param"] = fault.param
    return body | {"request_id": request_id}


def fault_headers(fault: Fault) -> list[tuple[bytes, bytes]]:
    """What a refusal says beside its sentence."""
    headers = []
    if fault.retry_after_s:
        headers.append((b"retry-after", b"%d" % fault.retry_after_s))
    if isinstance(fault, WrongMethod):
        headers.append((b"allow", ", ".join(fault.allowed).encode()))
    if isinstance(fault, TooLarge | Slow):
        headers.append((b"connection", b"close"))
    return headers


class Gone(Exception):
    """The client hung up before it had said everything."""


class Match(NamedTuple):
    route: Route
    path: dict[str, str]


# Where a parameter is in the tree of routes; no segment holds a slash, so no caller can name it.
_ANY = "/"


class Table:
    """The routes as a tree of path segments. Segments are split before they are decoded, so an
    email address may contain any character. An empty segment matches a parameter, so that a blank
    UUID gets another error than an unknown path."""

    def __init__(self, routes: tuple[Route, ...]) -> None:
        self._root: dict[str, Any] = {}
        for route in routes:
            node = self._root
            for segment in route.segments:
                node = node.setdefault(_ANY if segment.startswith("{") else segment, {})
            node.setdefault("", {})[route.method] = route

    def find(self, method: str, raw_path: bytes) -> Match | Unknown | WrongMethod:
        """The route, or an error. It is returned, not raised, because the key is checked first."""
        segments = raw_path.decode("latin-1").split("/")[1:]
        node = self._root
        values: list[str] = []
        for segment in segments:
            child = node.get(segment) if segment else None
            if child is None:
                child = node.get(_ANY)
                if child is None:
                    return Unknown(UNKNOWN_PATH)
                values.append(segment)
            node = child
        methods: dict[str, Route] | None = node.get("")
        if methods is None:
            return Unknown(UNKNOWN_PATH)
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            return WrongMethod(sorted(methods))
        if not values:
            return Match(route, {})
        return Match(route, dict(zip(route.names, values, strict=True)))


def decoded(path: dict[str, str]) -> dict[str, str]:
    """Path parameters as text, UUIDs in lower case. A blank value is an error."""
    values = {}
    for name, raw in path.items():
        try:
            if "%" in raw:
                value = unquote_to_bytes(raw).decode()
            else:
                value = raw if raw.isascii() else raw.encode("latin-1").decode()
        except UnicodeDecodeError:
            raise Invalid("{field} in the path is not valid UTF-8.", param=name) from None
        if "\x00" in value:  # no database can store it, so nothing has this name
            raise Unknown(UNKNOWN_PATH)
        if not value.strip():
            raise Required(name, "{field} in the path must not be blank.")
        values[name] = lowercase_id(value)
    return values


def query_of(raw: bytes) -> dict[str, str]:
    """The last of a repeated parameter counts."""
    if not raw:
        return {}
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, max_num_fields=QUERY_FIELDS, errors="strict"
        )
    except ValueError:
        raise Invalid("The query string cannot be read.") from None
    if any("\x00" in value for _, value in pairs):
        raise Invalid("The query string must not contain NUL characters.")
    return dict(pairs)


async def read_body(
    receive: Receive, headers: dict[bytes, bytes], limit: int = BODY_LIMIT
) -> bytes:
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared[:20]) > limit:
        raise TooLarge("The body is larger than {limit} MB.", limit=limit // 1024 // 1024)
    message = await _next(receive)
    if not message.get("more_body"):
        whole: bytes = message.get("body", b"")
        if len(whole) > limit:
            raise TooLarge("The body is larger than {limit} MB.", limit=limit // 1024 // 1024)
        return whole
    parts, size = [message["body"]], len(message["body"])
    give_up = asyncio.get_running_loop().time() + BODY_S
    while message.get("more_body"):
        message = await _next(receive, give_up - asyncio.get_running_loop().time())
        size += len(message.get("body", b""))
        if size > limit:
            raise TooLarge("The body is larger than {limit} MB.", limit=limit // 1024 // 1024)
        parts.append(message.get("body", b""))
    return b"".join(parts)


async def _next(receive: Receive, seconds: float = BODY_S) -> MutableMapping[str, Any]:
    try:
        async with asyncio.timeout(max(seconds, 0)):
            message = await receive()
    except TimeoutError:
        raise Slow("The body took too long to arrive.") from None
    if message["type"] == "http.disconnect":
        raise Gone
    return message


def check_is_json(content_type: bytes | None, *, also_form: bool = False) -> None:
    if not content_type:
        return
    kind, _, rest = content_type.decode("latin-1").lower().partition(";")
    # Other parameters may follow the charset, or nothing after a last semicolon.
    charset = rest.partition("charset=")[2].partition(";")[0].strip().strip('"')
    if kind.strip() != "application/json" or charset not in ("", "utf-8", "utf8", "us-ascii"):
        or_form = ", or as multipart/form-data" if also_form else ""
        raise NotJson(
            "Send the body as JSON with Content-Type: application/json; charset=utf-8{or_form}.",
            or_form=or_form,
        )
