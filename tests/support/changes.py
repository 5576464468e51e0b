"""Domain functions take a change; a store runs units of work that take a transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from honeyguide.kernel import actors
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx

P = ParamSpec("P")
T = TypeVar("T")


def changing(
    unit: Callable[Concatenate[Change, P], Awaitable[T]],
    site: Site,
    tenant: Tenant,
    now_ms: int,
    *,
    actor: Actor = actors.api_key("the tests' key"),  # noqa: B008 - a value that cannot change
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    """`unit(change, …)` as a unit of work `(tx, …)`."""

    async def work(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await unit(Change(tx, site, tenant, actor, now_ms), *args, **kwargs)

    return work
