"""Two accounts that get the same work for a job, and what a case says about that job."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from honeyguide.kernel.ids import new_id
from honeyguide.store import Tx
from tests.support.service import Member, Service
from tests.support.stores import statement


class World:
    """A service without background work of its own, and two accounts that do the same."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.good, self.bad = service.member(), service.member()

    @property
    def both(self) -> tuple[Any, ...]:
        return self.good, self.bad

    @both.setter
    def both(self, accounts: tuple[Any, ...]) -> None:
        self.good, self.bad = accounts

    def ask(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        async def work(tx: Tx) -> list[tuple[Any, ...]]:
            return await tx.all(statement(sql), **params)

        return self.service.read(work)

    def do(self, sql: str, **params: Any) -> None:
        async def work(tx: Tx) -> None:
            await tx.run(statement(sql), **params)

        self.service.write(work)

    def run(self, name: str) -> None:
        (job,) = [job for job in self.service.services.loop.jobs if job.name == name]
        assert self.service.run(self.service.services.loop.once(job))


@dataclass
class Case:
    """Gives both accounts work for a job. `condition` is about NEW or OLD and {id}, the account
    whose work fails. `is_done` tells whether an account's work is done.
    """

    prepare: Callable[[World], None]
    event: str
    table: str
    condition: str
    is_done: Callable[[World, Member], bool]


def rows(table: str, more: str = "") -> Callable[[World, Member], bool]:
    def found(world: World, who: Member) -> bool:
        sql = f"SELECT 1 FROM {table} WHERE account_id = :id {more}"
        return bool(world.ask(sql, id=who.account_id))

    return found


def no_rows(table: str, more: str = "") -> Callable[[World, Member], bool]:
    return lambda world, who: not rows(table, more)(world, who)


def old_rows(table: str, **columns: Any) -> Callable[[World], None]:
    """A row of long ago for each account, by columns; `ID` is a new one each time."""

    def prepare(world: World) -> None:
        for who in world.both:
            values = {name: new_id() if value == "ID" else value for name, value in columns.items()}
            values["account_id"] = who.account_id
            names, binds = ", ".join(values), ", ".join(f":{name}" for name in values)
            world.do(f"INSERT INTO {table} ({names}) VALUES ({binds})", **values)

    return prepare


def purge(table: str, **columns: Any) -> Case:
    return Case(
        old_rows(table, **columns), "DELETE", table, "OLD.account_id = '{id}'", no_rows(table)
    )
