"""One change to an account's data: a reading, with who makes the change. What it writes is bound to
the tenant and the time of the reading.
"""

from __future__ import annotations

from typing import Any, TypeVar

from honeyguide.kernel.actors import Actor
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.reading import Reading
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Refusals, Strength, Tx

R = TypeVar("R")


class Change(Reading):
    __slots__ = ("actor",)

    def __init__(self, tx: Tx, site: Site, tenant: Tenant, actor: Actor, now_ms: int) -> None:
        super().__init__(tx, site, tenant, now_ms)
        self.actor = actor

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
