"""How every API request is served: route, key, rate limit, body, transaction, view. Errors become
responses here."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from honeyguide.accounts import accounts, idempotency
from honeyguide.accounts.admission import Admission, Caller, lacks_scope
from honeyguide.accounts.limits import Allowance
from honeyguide.api import decoding, multipart, transport
from honeyguide.api.call import Call, Known, Listed, Route, T, Writer
from honeyguide.api.decoding import Body
from honeyguide.api.telemetry import Answered, Telemetry
from honeyguide.api.transport import NOTHING_RUNS, Receive, Scope, Send, Table
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.kernel import actors, errors, log_context, paging
from honeyguide.kernel.clock import Clock
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads_account
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
STILL_RUNNING = "A request with this Idempotency-Key is still running; try again in a moment."

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
    """A request, and what is known about it by the time it is answered or fails."""

    scope: Scope
    headers: dict[bytes, bytes]
    request_id: str
    now_ms: int
    route: str = "unknown"
    caller: Caller | None = None
    allowance: Allowance | None = None

    @property
    def method(self) -> str:
        method: str = self.scope["method"]
        return method


@dataclass(slots=True)
class AdmittedCall:
    """A call that its key admits, with what its endpoint gets."""

    exchange: Exchange
    route: Route
    call: Call[Any]
    tenant: Tenant
    key_id: str

    @property
    def now_ms(self) -> int:
        return self.exchange.now_ms

    def reading(self, tx: Tx) -> Reading:
        return Reading(tx, self.call.site, self.tenant, self.now_ms)

    def read(self, tx: Tx) -> Awaitable[Any]:
        return self.route.endpoint(self.reading(tx), self.call)

    def write(self, tx: Tx) -> Awaitable[Any]:
        return self.with_change(tx, self.route.endpoint, self.call)

    def with_change(self, tx: Tx, work: Callable[..., Awaitable[T]], *args: Any) -> Awaitable[T]:
        actor = actors.api_key(self.key_id)
        return work(Change(tx, self.call.site, self.tenant, actor, self.now_ms), *args)


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
        headers: dict[bytes, bytes] = dict(scope["headers"])
        given = headers.get(b"x-request-id")
        request_id = (
            given.decode() if given and _REQUEST_ID(given) else f"{self._boot}-{next(self._ids):x}"
        )
        exchange = Exchange(scope, headers, request_id, self._clock())
        log_context.start_request(request_id)
        self.under_way += 1
        try:
            if self.under_way > MOST_AT_ONCE:
                raise _overloaded()
            reply = await self._answer(exchange, receive)
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
                now_ms=exchange.now_ms,
                request_id=request_id,
                account_id=account_id,
            )
        )

    async def _answer(self, exchange: Exchange, receive: Receive) -> Reply:
        admitted = await self._admit(exchange)
        route, call = admitted.route, admitted.call
        if not route.writes:
            run = self._store.snapshot if route.snapshot else self._store.read
            return _reply(admitted, await run(admitted.read))
        raw = await transport.read_body(receive, exchange.headers)
        if route.body is not None:
            call.body = await _body_of(route.body, raw, exchange.headers.get(b"content-type"))
        if self._writing >= MOST_WRITING:
            raise _overloaded()
        self._writing += 1
        try:
            return await self._write(admitted, raw)
        finally:
            self._writing -= 1

    async def _admit(self, exchange: Exchange) -> AdmittedCall:
        scope = exchange.scope
        found = self._table.find(exchange.method, scope["raw_path"])
        if isinstance(found, transport.Match):
            exchange.route = found.route.path
        # Without a valid key every answer is a 401, so strangers cannot learn which paths exist.
        caller = await self._caller_of(exchange)
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
        query = transport.query_of(scope["query_string"])
        call: Call[Any] = Call(self._site, self._policy, path, query, None)
        tenant = Tenant(caller.account_id, caller.campaign_id)
        return AdmittedCall(exchange, route, call, tenant, caller.key_id)

    async def _caller_of(self, exchange: Exchange) -> Caller:
        raw_key = exchange.headers.get(b"x-api-key")
        client = exchange.scope.get("client")
        key = _value(raw_key) if raw_key is not None else None
        caller, exchange.allowance = await self._admission.admit(
            key, client[0] if client else "", exchange.now_ms
        )
        exchange.caller = caller
        log_context.start_request(exchange.request_id, caller.account_id)
        if exchange.allowance.refused:
            retry_after_s = exchange.allowance.retry_after_s(exchange.now_ms)
            raise errors.TooMany(
                "You have made {limit} requests in the last 60 seconds. "
                "Try again in {seconds} seconds.",
                retry_after_s=retry_after_s,
                limit=exchange.allowance.limit,
                seconds=retry_after_s,
            )
        return caller

    async def _write(self, admitted: AdmittedCall, raw: bytes) -> Reply:
        route, call = admitted.route, admitted.call
        if route.prepare is not None:
            call.body = await route.prepare(call)
        claim = _claim_of(admitted, raw)
        is_replay = False
        if route.in_parts is not None:
            is_replay = await self._is_answered(admitted, claim)
            if not is_replay:
                call.body = await route.in_parts(self._writer_for(admitted), call)
        if claim is not None:
            return await self._store.write(_once, admitted, claim, is_replay=is_replay)
        return _reply(admitted, await self._store.write(admitted.write))

    def _writer_for(self, admitted: AdmittedCall) -> Writer:
        async def write(work: Callable[..., Awaitable[T]], *args: Any) -> T:
            return await self._store.write(admitted.with_change, work, *args)

        return write

    async def _is_answered(self, admitted: AdmittedCall, claim: Claim | None) -> bool:
        """Whether this is a request with an Idempotency-Key that was answered before."""
        return claim is not None and await self._store.read(
            reads_account(
                idempotency.is_claimed, self._site, admitted.tenant.account_id, admitted.now_ms
            ),
            claim.key,
        )


def _claim_of(admitted: AdmittedCall, raw: bytes) -> Claim | None:
    method, exchange = admitted.route.method, admitted.exchange
    key = exchange.headers.get(b"idempotency-key") if method == "POST" else None
    if key is None:
        return None
    fingerprint = idempotency.fingerprint(method, exchange.scope["raw_path"], raw)
    return Claim(idempotency.checked(_value(key)), fingerprint)


async def _once(tx: Tx, admitted: AdmittedCall, claim: Claim, *, is_replay: bool) -> Reply:
    """Serve a POST with an Idempotency-Key. The first time, store the response in the same
    transaction; after that, return the stored one."""
    account_id = admitted.tenant.account_id
    answered = await idempotency.claim(
        tx.at(admitted.now_ms), account_id, claim.key, claim.fingerprint
    )
    if answered is not None:
        again = (b"idempotent-replayed", b"true")
        return Reply(answered.status or 200, (answered.body or "").encode(), [again])
    if is_replay:  # the stored response expired while we looked for it
        raise errors.Busy(STILL_RUNNING)
    result = await admitted.write(tx)
    reply = _reply(admitted, result)
    await idempotency.complete(
        tx,
        account_id,
        claim.key,
        status=reply.status,
        body=reply.body.decode(),
        about=await _about(tx, admitted, result),
    )
    return reply


def _reply(admitted: AdmittedCall, result: Any) -> Reply:
    status = admitted.route.status
    if isinstance(result, Known):
        return Reply(200, _encode(result.view), [])
    if not isinstance(result, Listed):
        return Reply(status, _encode(result), [])
    call = admitted.call
    address = call.site.base_url + admitted.exchange.scope["raw_path"].decode("latin-1")
    kept = {
        name: value
        for name, value in call.query.items()
        if name in admitted.route.query and name not in ("page", "per_page")
    }
    link = paging.links(address, kept, result.page, result.total)
    headers = [(b"link", link.encode("latin-1", "replace"))] if link else []
    return Reply(status, _encode(result.view), headers)


async def _body_of(kind: type[Body], raw: bytes, content_type: bytes | None) -> Body:
    if kind.takes_form and multipart.is_form(content_type):
        fields = await multipart.fields_of(raw, content_type or b"", kind)
        return decoding.convert(kind, fields, strict=False)
    if raw:
        transport.check_is_json(content_type, also_form=kind.takes_form)
    if len(raw) > LARGE_BODY:
        return await asyncio.to_thread(decoding.decode, kind, raw)
    return decoding.decode(kind, raw)


def _value(raw: bytes) -> str:
    """A header's value without the blanks around it, which the parser keeps (RFC 9110)."""
    return raw.decode("latin-1").strip(" \t")


async def _about(tx: Tx, admitted: AdmittedCall, result: Any) -> str | None:
    """Whose erasure reaches the response: the subscriber's whom the path or the object in it names,
    or else the UUID of the object. A list may name several people."""
    if "/subscribers/{uuid}/" in admitted.route.path:
        subscriber = await subscribers.find(admitted.reading(tx), admitted.call.path["uuid"])
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
