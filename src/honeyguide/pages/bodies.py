"""Limits what is sent to a page: its size, and how slowly it may come in."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from honeyguide.moving.import_files import MOST_BYTES

# The largest file that we accept, and the form around it.
LIMIT = MOST_BYTES + 1024 * 1024
# A form may take this long; a file longer, as long as it keeps this pace.
PATIENCE_S = 20.0
BYTES_A_SECOND = 20_000

_CLOSE = {"connection": "close"}


class Bounded:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        began_s, size = asyncio.get_running_loop().time(), 0
        declared = Headers(scope=scope).get("content-length", "")
        too_large = declared.isdigit() and int(declared[:20]) > LIMIT

        async def bounded() -> Message:
            nonlocal size
            if too_large or size > LIMIT:
                raise HTTPException(413, "The upload is too large.", _CLOSE)
            try:
                async with asyncio.timeout_at(began_s + PATIENCE_S + size / BYTES_A_SECOND):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "The upload took too long. Try again.", _CLOSE) from None
            size += len(message.get("body", b""))
            return message

        await self._app(scope, bounded, send)
