"""What a page's handler is called with, as its row in the route table says, and how a refusal is
answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Protocol, TypeVar

from starlette.responses import Response

from honeyguide.kernel.errors import Fault
from honeyguide.store import Store

A = TypeVar("A")
R = TypeVar("R")


class Uses(Enum):
    READS = auto()  # handler(tx, request) in one snapshot
    SLOW_READS = auto()  # the same where it may take seconds; other requests do not wait for it
    REPLICA_READS = auto()  # the same, perhaps on a read replica; never about money
    WRITES = auto()  # handler(tx, request) in one transaction
    SERVICES = auto()  # handler(services, request), which opens transactions of its own


class HasStore(Protocol):
    @property
    def store(self) -> Store: ...


async def call(
    uses: Uses, handler: Callable[..., Awaitable[A]], services: HasStore, request: R
) -> A:
    if uses is Uses.READS:
        return await services.store.snapshot(handler, request)
    if uses is Uses.SLOW_READS:
        return await services.store.slow_snapshot(handler, request)
    if uses is Uses.REPLICA_READS:
        return await services.store.replica_snapshot(handler, request)
    if uses is Uses.WRITES:
        return await services.store.write(handler, request)
    return await handler(services, request)


def refused(response: Response, fault: Fault) -> Response:
    """The response with the status of the fault, and when to try again."""
    response.status_code = fault.status
    if fault.retry_after_s:
        response.headers["retry-after"] = str(fault.retry_after_s)
    return response
