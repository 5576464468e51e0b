"""Domain functions take a reading or a change; the store runs units of work, which take `tx`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from honeyguide.kernel.actors import Actor
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import reading as store_reading
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.store.tx import Tx

from .changes import API_KEY, SITE, changing

P = ParamSpec("P")
T = TypeVar("T")
# Where a test does not care when it is: the noon of its other data.
NOW_MS = 1_794_744_000_000


def reading(tx: Tx, tenant: Tenant, *, now_ms: int = NOW_MS) -> Reading:
    return Reading(tx, SITE, tenant, now_ms)


def in_account(tx: Tx, account_id: str, *, now_ms: int = NOW_MS) -> AccountReading:
    return AccountReading(tx, SITE, account_id, now_ms)


def change_of(tx: Tx, tenant: Tenant, *, now_ms: int = NOW_MS, actor: Actor = API_KEY) -> Change:
    return Change(tx, SITE, tenant, actor, now_ms)


def change_of_account(
    tx: Tx, account_id: str, *, now_ms: int = NOW_MS, actor: Actor = API_KEY
) -> Change:
    """Where no campaign is meant."""
    return change_of(tx, Tenant(account_id, ""), now_ms=now_ms, actor=actor)


def reads(
    unit: Callable[Concatenate[Reading, P], Awaitable[T]], tenant: Tenant, *, now_ms: int = NOW_MS
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    """`unit(at, …)` as a unit of work `(tx, …)`."""
    return store_reading.reads(unit, SITE, tenant, now_ms)


def reads_account(
    unit: Callable[Concatenate[AccountReading, P], Awaitable[T]],
    account_id: str,
    *,
    now_ms: int = NOW_MS,
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    return store_reading.reads_account(unit, SITE, account_id, now_ms)


def changes_of(
    unit: Callable[Concatenate[Change, P], Awaitable[T]],
    tenant: Tenant,
    *,
    now_ms: int = NOW_MS,
    actor: Actor = API_KEY,
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    """`unit(change, …)` as a unit of work `(tx, …)`."""
    return changing(unit, SITE, tenant, now_ms, actor=actor)


def changes_account(
    unit: Callable[Concatenate[Change, P], Awaitable[T]],
    account_id: str,
    *,
    now_ms: int = NOW_MS,
    actor: Actor = API_KEY,
) -> Callable[Concatenate[Tx, P], Awaitable[T]]:
    return changes_of(unit, Tenant(account_id, ""), now_ms=now_ms, actor=actor)
