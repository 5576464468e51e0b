"""One account that fetches people from a stand-in, with a clock that waits for nobody."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import fetching, importing, remote_people
from honeyguide.moving.fetching import FetchStage, RemoteFetch
from honeyguide.store.tx import Tx
from honeyguide.work.fetches import Fetcher
from honeyguide.work.moving import import_file
from tests.support.changes import SITE
from tests.support.incumbent import KEY, IncumbentServer
from tests.support.platforms.stand_in import FREE
from tests.support.readings import changes_of, reads
from tests.support.stores import OpenStore, statement


class Move:
    """One account that fetches, with a clock that waits for nobody."""

    def __init__(self, opened: OpenStore, tenant: Tenant, server: IncumbentServer) -> None:
        self.opened = opened
        self.store = opened.store
        self.tenant = tenant
        self.server = server
        self.now_ms = system_clock()
        self.waited_ms = 0

    @asynccontextmanager
    async def fetcher(self) -> AsyncIterator[Fetcher]:
        outbound = Outbound(FREE)
        try:
            yield Fetcher(self.store, outbound, SITE, lambda: self.now_ms, interval_s=0.0)
        finally:
            await outbound.close()

    async def begin(self) -> str:
        return await self.store.write(
            changes_of(fetching.begin, self.tenant, now_ms=self.now_ms),
            self.server.url,
            "The Old Program",
        )

    async def fetch(
        self, import_id: str, key: str = KEY, pages: int = 10_000, only_people: bool = True
    ) -> RemoteFetch:
        """Until it is done or stops, or so many pages."""
        fetch = await self.store.read(reads(fetching.get, self.tenant), import_id)
        async with self.fetcher() as fetcher:
            api = fetcher.api(self.server.url, key)
            for _ in range(pages):
                if fetch.stage == FetchStage.DONE or fetch.is_stopped:
                    break
                if fetch.next_ms > self.now_ms:
                    self.waited_ms += fetch.next_ms - self.now_ms
                    self.now_ms = fetch.next_ms
                fetch = await fetcher.fetch_page(fetch, api, only_people=only_people)
        return fetch

    async def run_import(self, import_id: str) -> importing.Import:
        """As the job does, to its end."""
        await self.store.write(changes_of(importing.start, self.tenant), import_id)
        while (
            kept := await self.store.read(reads(importing.get, self.tenant), import_id)
        ).status == ("running"):
            await import_file(SITE, self.store, [import_id], self.now_ms)
        return kept

    async def lines(self, import_id: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        for n in itertools.count():
            part = await self.store.read(_part, import_id, n)
            if not part:
                return found
            for number, cells in msgspec.json.decode(part[0][0]):
                assert number == len(found) + 1
                found.append(dict(zip(remote_people.HEADER, cells, strict=True)))
        raise AssertionError


_PART = statement("SELECT lines FROM import_part WHERE import_id = :import_id AND n = :n")


async def _part(tx: Tx, import_id: str, n: int) -> list[tuple[str]]:
    return await tx.all(_PART, import_id=import_id, n=n)


def move_of(opened: OpenStore, server: IncumbentServer) -> Move:
    opened.account_with_key()
    ((account_id, campaign_id),) = opened.ask("SELECT account_id, id FROM campaign")
    return Move(opened, Tenant(account_id, campaign_id), server)


def moving(opened: OpenStore, people: int) -> Move:
    return move_of(opened, IncumbentServer(people))
