"""How every API request is served: route, key, rate limit, body, transaction, view. Errors become
responses here."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import re
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from honeyguide.accounts import accounts, idempotency
from honeyguide.accounts.admission import Admission, Caller, lacks_scope
from honeyguide.accounts.limits import Allowance
from honeyguide.api import decoding, multipart, transport
from honeyguide.api.call import Call, Known, Listed, Route
from honeyguide.api.telemetry import Answered, Telemetry
from honeyguide.api.transport import NOTHING_RUNS, Receive, Scope, Send, Table
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.kernel import actors, errors, log_context, paging
from honeyguide.kernel.clock import Clock
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store
from honeyguide.store.reading import reads_account
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers

log = logging.getLogger("honeyguide.api")

# Requests under way at once in one process. Beyond this, a quick refusal is better than a slow 200.
MOST_AT_ONCE = 1_000
# Writes that wait for the store at once. A small machine does as many well within a second.
MOST_WRITING = 256
# Decoding a body of 2 MB can take half a second, so a large one is decoded in a thread.
LARGE_BODY = 64 * 1024
BUG = "Something went wrong on our side. Please report it with the request_id."
OVERLOADED = "The service is overloaded; try again in a moment."

UNKNOWN_CAMPAIGN = "There is no such campaign."
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}").fullmatch
_encode = msgspec.json.Encoder(decimal_format="number").encode
_FIXED = [
    (b"content-type", b"application/json; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", NOTHING_RUNS),
]


@dataclass(slots=True)
class Exchange:
    """What is known about a request by the time it is answered or fails."""

    request_id: str
    method: str
    route: str = "unknown"
    caller: Caller | None = None
    allowance: Allowance | None = None


class Claim(NamedTuple):
    """An Idempotency-Key and the fingerprint of the request that came with it."""

    key: str
    fingerprint: str


@dataclass(slots=True)
class Reply:
    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]]
    code: str | None = None  # of a fault of ours


class Api:
    def __init__(
        self,
        store: Store,
        site: Site,
        policy: OutboundPolicy,
        clock: Clock,
        admission: Admission,
        telemetry: Telemetry,
        routes: tuple[Route, ...],
    ) -> None:
        self._store = store
        self._site = site
        self._policy = policy
        self._clock = clock
        self._admission = admission
        self._telemetry = telemetry
        self._table = Table(routes)
        self._ids = itertools.count(1)
        self._boot = os.urandom(5).hex()
        self.under_way = 0
        self._writing = 0

    @property
    def is_overloaded(self) -> bool:
        return self.under_way >= MOST_AT_ONCE or self._writing >= MOST_WRITING

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        now_ms = self._clock()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        given = headers.get(b"x-request-id")
        request_id = (
            given.decode() if given and _REQUEST_ID(given) else f"{self._boot}-{next(self._ids):x}"
        )
        exchange = Exchange(request_id, scope["method"])
        log_context.start_request(request_id)
        self.under_way += 1
        try:
            if self.under_way > MOST_AT_ONCE:
                raise _overloaded()
            reply = await self._answer(scope, receive, headers, exchange, now_ms)
        except transport.Gone:
            return
        except errors.Fault as fault:
            reply = _refusal(fault, exchange)
        except Exception:
            log.exception("Request failed: %s %s", exchange.method, exchange.route)
            reply = _refusal(errors.Fault(BUG, code="internal_error"), exchange)
        finally:
            self.under_way -= 1
        await _send(send, reply, exchange)
        account_id = exchange.caller.account_id if exchange.caller else None
        took_s = time.perf_counter() - began
        self._telemetry.answered(
            Answered(
                method=exchange.method,
                route=exchange.route,
                status=reply.status,
                seconds=took_s,
                code=reply.code,
                now_ms=now_ms,
                request_id=request_id,
                account_id=account_id,
            )
        )

    async def _answer(
        self,
        scope: Scope,
        receive: Receive,
        headers: dict[bytes, bytes],
        exchange: Exchange,
        now_ms: int,
    ) -> Reply:
        found = self._table.find(exchange.method, scope["raw_path"])
        if isinstance(found, transport.Match):
            exchange.route = found.route.path
        # Without a valid key every answer is a 401, so strangers cannot learn which paths exist.
        caller = await self._admit(scope, headers, exchange, now_ms)
        if not isinstance(found, transport.Match):
            raise found
        route, raw_path = found
        if not caller.may(route.right):
            raise lacks_scope(route.right, self._site.base_url)
        path = transport.decoded(raw_path) if raw_path else raw_path
        if path.get("campaign_uuid", caller.campaign_id) != caller.campaign_id:
            raise errors.Missing(UNKNOWN_CAMPAIGN)
        if caller.is_paused and route.writes:
            raise errors.Forbidden(accounts.PAUSED, code="account_paused")
        tenant = Tenant(caller.account_id, caller.campaign_id)
        call = Call(
            tenant=tenant,
            actor=actors.api_key(caller.key_id),
            site=self._site,
            policy=self._policy,
            now_ms=now_ms,
            path=path,
            query=transport.query_of(scope["query_string"]),
        )
        if not route.writes:
            run = self._store.snapshot if route.snapshot else self._store.read
            return self._reply(route, await run(_read, route, call), call, scope)
        raw = await transport.read_body(receive, headers)
        if route.body is not None:
            call.body = await _body_of(route, raw, headers.get(b"content-type"))
        if self._writing >= MOST_WRITING:
            raise _overloaded()
        self._writing += 1
        try:
            if route.prepare is not None:
                call.body = await route.prepare(call)
            key = headers.get(b"idempotency-key") if route.method == "POST" else None
            claim = None
            if key is not None:
                claim = Claim(
                    idempotency.checked(_value(key)),
                    idempotency.fingerprint(route.method, scope["raw_path"], raw),
                )
            if route.in_parts is not None and not await self._is_answered(call, claim):
                call.body = await route.in_parts(self._store, call)
            if claim is not None:
                return await self._store.write(self._once, route, call, scope, claim)
            result = await self._store.write(_write, route, call)
            return self._reply(route, result, call, scope)
        finally:
            self._writing -= 1

    async def _admit(
        self, scope: Scope, headers: dict[bytes, bytes], exchange: Exchange, now_ms: int
    ) -> Caller:
        raw_key = headers.get(b"x-api-key")
        peer = scope["client"][0] if scope.get("client") else ""
        key = _value(raw_key) if raw_key is not None else None
        caller, exchange.allowance = await self._admission.admit(key, peer, now_ms)
        exchange.caller = caller
        log_context.start_request(exchange.request_id, caller.account_id)
        if exchange.allowance.refused:
            retry_after_s = exchange.allowance.retry_after_s(now_ms)
            raise errors.TooMany(
                "You have made {limit} requests in the last 60 seconds. "
                "Try again in {seconds} seconds.",
                retry_after_s=retry_after_s,
                limit=exchange.allowance.limit,
                seconds=retry_after_s,
            )
        return caller

    async def _is_answered(self, call: Call, claim: Claim | None) -> bool:
        """Whether this is a request with an Idempotency-Key that was answered before."""
        return claim is not None and await self._store.read(
            reads_account(idempotency.is_claimed, call.site, call.tenant.account_id, call.now_ms),
            claim.key,
        )

    async def _once(self, tx: Tx, route: Route, call: Call, scope: Scope, claim: Claim) -> Reply:
        """Serve a POST with an Idempotency-Key. The first time, store the response in the same
        transaction; after that, return the stored one."""
        account_id = call.tenant.account_id
        answered = await idempotency.claim(
            tx, account_id, claim.key, claim.fingerprint, now_ms=call.now_ms
        )
        if answered is not None:
            again = (b"idempotent-replayed", b"true")
            return Reply(answered.status or 200, (answered.body or "").encode(), [again])
        result = await _write(tx, route, call)
        reply = self._reply(route, result, call, scope)
        await idempotency.complete(
            tx,
            account_id,
            claim.key,
            status=reply.status,
            body=reply.body.decode(),
            about=await _about(tx, route, call, result),
        )
        return reply

    def _reply(self, route: Route, result: Any, call: Call, scope: Scope) -> Reply:
        if isinstance(result, Known):
            return Reply(200, _encode(result.view), [])
        if not isinstance(result, Listed):
            return Reply(route.status, _encode(result), [])
        address = self._site.base_url + scope["raw_path"].decode("latin-1")
        kept = {
            name: value
            for name, value in call.query.items()
            if name in route.query and name not in ("page", "per_page")
        }
        link = paging.links(address, kept, result.page, result.total)
        return Reply(
            route.status,
            _encode(result.view),
            [(b"link", link.encode("latin-1", "replace"))] if link else [],
        )


async def _read(tx: Tx, route: Route, call: Call) -> Any:
    return await route.endpoint(call.reading(tx), call)


async def _write(tx: Tx, route: Route, call: Call) -> Any:
    return await route.endpoint(call.change(tx), call)


async def _body_of(route: Route, raw: bytes, content_type: bytes | None) -> decoding.Body:
    assert route.body is not None
    if route.multipart and multipart.is_form(content_type):
        fields = await multipart.fields_of(raw, content_type or b"", route.body)
        return decoding.convert(route.body, fields, strict=False)
    if raw:
        transport.check_is_json(content_type, also_form=route.multipart)
    if len(raw) > LARGE_BODY:
        return await asyncio.to_thread(decoding.decode, route.body, raw)
    return decoding.decode(route.body, raw)


def _value(raw: bytes) -> str:
    """A header's value without the blanks around it, which the parser keeps (RFC 9110)."""
    return raw.decode("latin-1").strip(" \t")


async def _about(tx: Tx, route: Route, call: Call, result: Any) -> str | None:
    """Whose erasure reaches the response: the subscriber's whom the path or the object in it names,
    or else the UUID of the object. A list may name several people."""
    if "/subscribers/{uuid}/" in route.path:
        subscriber = await subscribers.find(call.reading(tx), call.path["uuid"])
        return None if subscriber is None else subscriber.id
    for name in getattr(result, "__struct_fields__", ()):
        shown = getattr(result, name)
        if isinstance(shown, list):
            return idempotency.SEVERAL
        of = getattr(shown, "subscriber_uuid", None) or getattr(shown, "subscriber", shown)
        return of if isinstance(of, str) else getattr(of, "uuid", None)
    return None


def _overloaded() -> errors.Unavailable:
    return errors.Unavailable(OVERLOADED, code="overloaded")


def _refusal(fault: errors.Fault, exchange: Exchange) -> Reply:
    # The specification has one status for faults of ours: 500. `code` tells them apart.
    status = min(fault.status, 500)
    body = _encode(transport.error_body(fault, exchange.request_id))
    code = fault.code if status >= 500 else None
    return Reply(status, body, transport.fault_headers(fault), code)


async def _send(send: Send, reply: Reply, exchange: Exchange) -> None:
    headers = [
        *_FIXED,
        (b"content-length", b"%d" % len(reply.body)),
        (b"x-request-id", exchange.request_id.encode()),
        *reply.headers,
    ]
    allowance = exchange.allowance
    if allowance is not None and allowance.limit:
        headers += (
            (b"x-ratelimit-limit", b"%d" % allowance.limit),
            (b"x-ratelimit-remaining", b"%d" % allowance.remaining),
            (b"x-ratelimit-reset", b"%d" % (-(-allowance.frees_ms // 1000))),
        )
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send(
        {"type": "http.response.body", "body": b"" if exchange.method == "HEAD" else reply.body}
    )
