"""Domain functions take a change; a store runs units of work that take a transaction."""

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


SITE = Site(
    "http://127.0.0.1:8000", "http://127.0.0.1:8000/join", b"a secret of the tests, 32 bytes.."
)
API_KEY = actors.api_key("the tests' key")


def new_change(
    tx: Tx, site: Site, tenant: Tenant, now_ms: int, *, actor: Actor = API_KEY
) -> Change:
    return Change(tx, site, tenant, actor, now_ms)


def changing(
    unit: Callable[Concatenate[Change, P], Awaitable[T]],
    site: Site,
    tenant: Tenant,
    now_ms: int,
    *,
    actor: Actor = API_KEY,
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    """`unit(change, …)` as a unit of work `(tx, …)`."""

    async def work(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await unit(Change(tx, site, tenant, actor, now_ms), *args, **kwargs)

    return work
