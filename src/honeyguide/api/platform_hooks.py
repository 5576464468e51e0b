"""Where email platforms send their webhooks. One is verified, stored as it came and answered; the
worker applies it later.
"""

from __future__ import annotations

import logging
import re

import msgspec

from honeyguide.api import transport
from honeyguide.api.transport import NOTHING_RUNS, Receive, Scope, Send
from honeyguide.events.outbound import Outbound
from honeyguide.integrations import incoming, integrations
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.integrations import Integration
from honeyguide.integrations.problems import ForgedHook
from honeyguide.integrations.reports import IncomingHook
from honeyguide.kernel.clock import MINUTE_MS, Clock, system_clock
from honeyguide.kernel.errors import Fault, Missing, Unavailable
from honeyguide.store import Store
from honeyguide.store.tx import timed

log = logging.getLogger("honeyguide.api")

MOST_BYTES = 1024 * 1024
_PATH = re.compile(r"/hooks/([^/\0]+)")


class PlatformHooks:
    path = "/hooks/{key}"
    """What requests are counted as."""

    def __init__(
        self, store: Store, outbound: Outbound, keys: EncryptionKeys, clock: Clock
    ) -> None:
        self._store = store
        self._outbound = outbound
        self._keys = keys
        self._clock = clock

    def serves(self, path: str) -> bool:
        return _PATH.fullmatch(path) is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self
        headers: list[tuple[bytes, bytes]] = []
        try:
            status, message = await self._answer(scope, receive)
        except transport.Gone:
            return
        except Fault as fault:
            status, message = fault.status, fault.message
            headers = transport.fault_headers(fault)
        except Exception:
            log.exception("Request failed: %s %s", scope["method"], self.path)
            status, message = 500, "Something went wrong on our side."
        body = b"" if scope["method"] == "HEAD" else msgspec.json.encode({"message": message})
        fixed = (
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
            (b"content-security-policy", NOTHING_RUNS),
        )
        start = {"type": "http.response.start", "status": status, "headers": [*fixed, *headers]}
        await send(start)
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, str]:
        if scope["method"] in ("GET", "HEAD"):
            # Some platforms ask with a GET whether the address works before they take it.
            return 200, "Post webhooks to this address."
        if scope["method"] != "POST":
            raise transport.WrongMethod(["GET", "POST"])
        return await self._receive(scope, receive)

    async def _receive(self, scope: Scope, receive: Receive) -> tuple[int, str]:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        hook = IncomingHook(
            body=await transport.read_body(receive, headers, MOST_BYTES),
            headers={name.decode("latin-1"): v.decode("latin-1") for name, v in headers.items()},
            query=transport.query_of(scope["query_string"]),
        )
        key = scope["path"].removeprefix("/hooks/")
        integration = await self._store.read(integrations.find_by_hook_key, key)
        if integration is None:
            raise Missing("Nothing is connected at this address.")
        now_ms = system_clock()
        try:
            access = integrations.access_to(integration, self._keys, self._outbound, now_ms=now_ms)
            platform = integrations.platform_of(integration.platform)
            signed_at = platform.verify_hook(access, hook, now_s=now_ms // 1000)
        except ForgedHook as error:
            await self._note_refused(integration, error.reason)
            return 401, error.reason
        except Fault:  # our own key is missing; the platform will send it again
            raise Unavailable("The service is not set up completely.") from None
        is_new = await self._store.write(
            incoming.store_hook, integration, hook, signed_at=signed_at
        )
        return 200, "Received." if is_new else "Duplicate; ignored."

    async def _note_refused(self, integration: Integration, reason: str) -> None:
        """At most once a minute, so that a flood of forgeries writes next to nothing."""
        now_ms = self._clock()
        if now_ms - (integration.refused_hook_ms or 0) >= MINUTE_MS:
            await self._store.write(timed(incoming.note_refused, now_ms), integration, reason)
