"""What the rows of all route tables of pages and embeds share: an address, a handler, what the
handler is called with, and how a refusal is answered. What an answer looks like is up to each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Generic, Protocol, TypeVar

from starlette.responses import Response

from honeyguide.kernel.errors import Fault
from honeyguide.store import Store


class Uses(Enum):
    READS = auto()  # handler(tx, request) in one snapshot; `PageRoute` makes a reading of tx
    SLOW_READS = auto()  # the same where it may take seconds; other requests do not wait for it
    REPLICA_READS = auto()  # the same, perhaps on a read replica; never about money
    WRITES = auto()  # the same in a transaction that writes; `PageRoute` makes a change
    SERVICES = auto()  # handler(services, request), which opens transactions of its own


class HasStore(Protocol):
    @property
    def store(self) -> Store: ...


class HasServices(Protocol):
    @property
    def services(self) -> HasStore: ...


R = TypeVar("R", bound=HasServices)
A = TypeVar("A")
# Its first argument depends on what it uses.
Handler = Callable[[Any, R], Awaitable[A]]


@dataclass(frozen=True)
class WebRoute(Generic[R, A]):
    method: str
    path: str
    uses: Uses
    handler: Handler[R, A]

    async def call(self, request: R) -> A:
        return await call(self.uses, self.handler, request)


async def call(uses: Uses, handler: Handler[R, A], request: R) -> A:
    store = request.services.store
    if uses is Uses.READS:
        return await store.snapshot(handler, request)
    if uses is Uses.SLOW_READS:
        return await store.slow_snapshot(handler, request)
    if uses is Uses.REPLICA_READS:
        return await store.replica_snapshot(handler, request)
    if uses is Uses.WRITES:
        return await store.write(handler, request)
    return await handler(request.services, request)


def refused(response: Response, fault: Fault) -> Response:
    """The response with the status of the fault, and when to try again."""
    response.status_code = fault.status
    if fault.retry_after_s:
        response.headers["retry-after"] = str(fault.retry_after_s)
    return response
