"""One change to an account's data: the transaction it is made in, whose data it is, who makes it
and when.

Statements that run through it are bound to its tenant and time, so none can touch another account's
rows by mistake. What several consequences of the change need to know is loaded once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from honeyguide.kernel.actors import Actor
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Refusals, Strength, Tx

R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")

Load = Callable[Concatenate[Tx, Tenant, P], Awaitable[T]]


class Change:
    __slots__ = ("_bound", "_facts", "actor", "now_ms", "site", "tenant", "tx")

    def __init__(self, tx: Tx, site: Site, tenant: Tenant, actor: Actor, now_ms: int) -> None:
        self.tx = tx
        self.site = site
        self.tenant = tenant
        self.actor = actor
        self.now_ms = now_ms
        self._bound: dict[str, Any] = {
            "account_id": tenant.account_id,
            "campaign_id": tenant.campaign_id,
            "now_ms": now_ms,
        }
        self._facts: dict[tuple[Any, ...], Any] = {}

    async def fact(self, load: Load[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What `load` finds, loaded once. Ask only for what this change does not alter later."""
        key = (load, *args)
        if key not in self._facts:
            self._facts[key] = await load(self.tx, self.tenant, *args, **kwargs)
        found: T = self._facts[key]
        return found

    def know(self, load: Load[P, T], value: T, /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Sets a fact that an earlier statement told by the way, so that nobody loads it."""
        self._facts[(load, *args)] = value

    # `account_id`, `campaign_id` and `now_ms` need not be passed to these. What is passed wins.

    async def one(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> R | None:
        return await self.tx.one(statement, taken, **{**self._bound, **params})

    async def all(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> list[R]:
        return await self.tx.all(statement, taken, **{**self._bound, **params})

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
