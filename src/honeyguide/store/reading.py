"""What a request or a job reads of one account: the transaction, whose data it is, and the time.

Statements that run through it are bound to its tenant and time, so none can read another account's
rows by mistake. What several parts of an answer need to know is loaded once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Refusals, Tx

R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")

Load = Callable[Concatenate[Tx, Tenant, P], Awaitable[T]]


class Reading:
    __slots__ = ("_bound", "_facts", "now_ms", "site", "tenant", "tx")

    def __init__(self, tx: Tx, site: Site, tenant: Tenant, now_ms: int) -> None:
        self.tx = tx
        self.site = site
        self.tenant = tenant
        self.now_ms = now_ms
        self._bound: dict[str, Any] = {
            "account_id": tenant.account_id,
            "campaign_id": tenant.campaign_id,
            "now_ms": now_ms,
        }
        self._facts: dict[tuple[Any, ...], Any] = {}

    async def fact(self, load: Load[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What `load` finds, loaded once. Ask only for what this transaction does not alter
        later."""
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
