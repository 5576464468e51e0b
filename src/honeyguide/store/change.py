"""One change to an account's data: a reading, with who makes the change. What it writes is bound to
the tenant and the time of the reading.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from honeyguide.kernel.actors import Actor
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.reading import Reading
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Refusals, Strength, Tx

R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")


class Change(Reading):
    __slots__ = ("actor",)

    def __init__(self, tx: Tx, site: Site, tenant: Tenant, actor: Actor, now_ms: int) -> None:
        super().__init__(tx, site, tenant, now_ms)
        self.actor = actor

    def of(self, tenant: Tenant) -> Change:
        """The same actor's, to another tenant in the same transaction."""
        return Change(self.tx, self.site, tenant, self.actor, self.now_ms)

    async def lock(
        self, statement: Statement[R], strength: Strength = "no key update", /, **params: Any
    ) -> list[R]:
        return await self.tx.lock(statement, strength, **{**self._bound, **params})

    async def run(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> int:
        return await self.tx.run(statement, taken, **{**self._bound, **params})

    async def put(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> None:
        await self.tx.put(statement, taken, **{**self._bound, **params})


def changes(
    unit: Callable[Concatenate[Change, P], Awaitable[T]],
    site: Site,
    tenant: Tenant,
    actor: Actor,
    now_ms: int,
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    """A unit of work for the store, from one that takes a change."""

    async def work(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await unit(Change(tx, site, tenant, actor, now_ms), *args, **kwargs)

    return work
