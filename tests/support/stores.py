"""A migrated store of its own on either engine, and a loop to use it on, without a server around
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from honeyguide.accounts import accounts, keys
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store, Tx, migrate, open_store
from honeyguide.store.statements import Statement

from . import used_databases
from .changes import SITE, new_change
from .process import migrated

T = TypeVar("T")


def statement(sql: str, touches: str = "changes test") -> Statement[Any]:
    """A statement for a test's own questions; its rows are tuples."""
    return Statement("test", sql, sql, lambda *columns: columns, touches=touches)


class OpenStore:
    """`with OpenStore("sqlite") as opened: opened.run(opened.store.write(work))`"""

    def __init__(
        self, engine: str, url: str | None = None, *, pool_size: int = 10, direct_url: str = ""
    ) -> None:
        self.engine = engine
        self.direct_url = direct_url
        self.url = url or migrated(engine)
        self._given = url is not None
        self._pool_size = pool_size
        self._runner = asyncio.Runner()
        self.store: Store

    def __enter__(self) -> OpenStore:
        if self._given:
            self.run(migrate(self.direct_url or self.url))
        opening = open_store(self.url, pool_size=self._pool_size, direct_url=self.direct_url)
        self.store = self.run(opening)
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.store.close())
        self._runner.close()
        if not self._given:
            used_databases.give_back(self.url)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def ask(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        """What a fresh look at committed rows finds."""

        async def find(tx: Tx) -> list[tuple[Any, ...]]:
            return await tx.all(statement(sql), **params)

        return self.run(self.store.read(find))

    def do(self, sql: str, **params: Any) -> int:
        async def work(tx: Tx) -> int:
            return await tx.run(statement(sql), **params)

        return self.run(self.store.write(work))

    def account_with_key(
        self, email: str = "alice@example.org", *, now_ms: int = 1
    ) -> tuple[str, str]:
        """(campaign, key)"""

        async def work(tx: Tx) -> tuple[str, str]:
            made = await accounts.create(tx.at(now_ms), EmailAddress(email), name=None)
            tenant = Tenant(made.account_id, made.campaign_id)
            change = new_change(tx, SITE, tenant, now_ms)
            return made.campaign_id, await keys.create(change, name="test")

        return self.run(self.store.write(work))


@asynccontextmanager
async def opened_store(url: str) -> AsyncIterator[Store]:
    """On the loop of an `async def` test."""
    store = await open_store(url, pool_size=10)
    try:
        yield store
    finally:
        await store.close()


# A small table that every installation has, to write to and fail on.
INSERT = statement("INSERT INTO instance (name, value) VALUES (:name, :value)", "adds instance")
UPDATE = statement(
    "UPDATE instance SET value = value || :more WHERE name = :name", "changes instance"
)
COPY = statement(
    "INSERT INTO instance (name, value) SELECT 'copy of ' || name, value FROM instance WHERE name "
    "= :name",
    "adds instance, reads instance",
)
NAMES = statement("SELECT name FROM instance ORDER BY name")
VALUE = statement("SELECT value FROM instance WHERE name = :name")
INSERT_ACCOUNT = statement(
    "INSERT INTO account (id, email, created_ms) VALUES (:id, :email, 1)", "adds account"
)
INSERT_USER = statement(
    "INSERT INTO login_user (id, email, email_key, created_ms) VALUES (:id, :email, :email, 1)",
    "adds login_user",
)
INSERT_CAMPAIGN = statement(
    "INSERT INTO campaign (id, account_id, name, slug, created_ms) VALUES (:id, :account_id, 'x', "
    ":id, 1)",
    "adds campaign, triggers slug",
)
INSERT_LEASE = statement(
    "INSERT INTO job_lease (name, leased_until_ms) VALUES (:name, 0)", "adds job_lease"
)


def found_in(url: str, text: str) -> list[str]:
    """Which of the database's files hold these bytes."""
    path = Path(url.removeprefix("sqlite:///"))
    files = [path, *(path.with_name(path.name + end) for end in ("-wal", "-journal"))]
    return [
        file.name
        for file in files
        if file.exists() and text.lower().encode() in file.read_bytes().lower()
    ]


def put(
    name: str, value: str = "", *, then: Exception | None = None
) -> Callable[[Tx], Awaitable[str]]:
    async def work(tx: Tx) -> str:
        await tx.run(INSERT, name=name, value=value)
        if then is not None:
            raise then
        return name

    return work


async def names(store: Store) -> list[str]:
    return [row[0] for row in await store.read(lambda tx: tx.all(NAMES))]


async def outcome(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except Exception as error:
        return error
