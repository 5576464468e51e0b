"""What a request or a job reads of one account: the transaction, whose data it is, and the time.

Statements that run through it are bound to its tenant and time, so none can read another account's
rows by mistake. What several parts of an answer need to know is loaded once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.facts import Fact
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Refusals, Tx

R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")


class AccountReading:
    """For what belongs to an account, whichever its campaign. Every `Reading` is one; made alone
    where only the account is known, so that nothing of a campaign can be asked of it."""

    __slots__ = ("_bound", "account_id", "now_ms", "site", "tx")

    def __init__(self, tx: Tx, site: Site, account_id: str, now_ms: int) -> None:
        self.tx = tx.at(now_ms)
        self.site = site
        self.account_id = account_id
        self.now_ms = now_ms
        self._bound: dict[str, Any] = {"account_id": account_id}

    def of_account(self, account_id: str) -> AccountReading:
        """Another account's in the same transaction."""
        return AccountReading(self.tx, self.site, account_id, self.now_ms)

    def of(self, tenant: Tenant) -> Reading:
        return Reading(self.tx, self.site, tenant, self.now_ms)

    # What is bound already need not be passed to these. What is passed wins.

    async def one(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> R | None:
        return await self.tx.one(statement, taken, **{**self._bound, **params})

    async def all(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> list[R]:
        return await self.tx.all(statement, taken, **{**self._bound, **params})


class Reading(AccountReading):
    __slots__ = ("_facts", "_loading", "tenant")

    def __init__(self, tx: Tx, site: Site, tenant: Tenant, now_ms: int) -> None:
        super().__init__(tx, site, tenant.account_id, now_ms)
        self.tenant = tenant
        self._bound["campaign_id"] = tenant.campaign_id
        self._facts: dict[tuple[Any, ...], Fact] = {}
        self._loading: list[set[str]] = []

    async def fact(
        self,
        load: Callable[Concatenate[Reading, P], Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """What `load` finds, loaded once, and again after a write to what it was read from."""
        key = (load, *args)
        known = self._facts.get(key)
        if known is None or self.tx.written.is_stale(known):
            writes, names = self.tx.written.writes, set[str]()
            self._loading.append(names)
            try:
                value = await load(self, *args, **kwargs)
            finally:
                self._loading.pop()
            known = self._facts[key] = Fact(value, names, writes)
        for loading in self._loading:
            loading |= known.names
        found: T = known.value
        return found

    def know(
        self,
        told_by: Statement[Any],
        load: Callable[Concatenate[Reading, P], Awaitable[T]],
        value: T,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        """Sets a fact that an earlier statement told by the way, so that nobody loads it."""
        self._facts[(load, *args)] = Fact(value, told_by.names, self.tx.written.writes)

    async def one(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> R | None:
        self._note(statement)
        return await self.tx.one(statement, taken, **{**self._bound, **params})

    async def all(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> list[R]:
        self._note(statement)
        return await self.tx.all(statement, taken, **{**self._bound, **params})

    def _note(self, statement: Statement[Any]) -> None:
        for names in self._loading:
            names |= statement.names


def reads(
    unit: Callable[Concatenate[Reading, P], Awaitable[T]],
    site: Site,
    tenant: Tenant,
    now_ms: int,
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    """A unit of work for the store, from one that takes a reading."""

    async def work(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await unit(Reading(tx, site, tenant, now_ms), *args, **kwargs)

    return work


def reads_account(
    unit: Callable[Concatenate[AccountReading, P], Awaitable[T]],
    site: Site,
    account_id: str,
    now_ms: int,
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:

    async def work(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await unit(AccountReading(tx, site, account_id, now_ms), *args, **kwargs)

    return work
