"""Fetches what another service has, one page at a time: as a job for the dashboard, and for the
command line. A page is fetched outside of a transaction, and stored together with the next place.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from honeyguide.events.outbound import Outbound
from honeyguide.integrations.encryption import EncryptionKeys, Undecryptable
from honeyguide.integrations.problems import PlatformError, TooLong, TryLater, WrongCredentials
from honeyguide.kernel import actors
from honeyguide.kernel.clock import Clock
from honeyguide.kernel.errors import Fault, Invalid, Missing, Unavailable
from honeyguide.kernel.site import Site
from honeyguide.moving import fetching, moved_documents, moved_programs, remote_people
from honeyguide.moving.fetching import FetchStage, RemoteFetch
from honeyguide.moving.moved_documents import RemoteDocument
from honeyguide.moving.remote_api import INTERVAL_S, RemoteApi, RemotePage
from honeyguide.moving.remote_people import ReadPeople
from honeyguide.partners import logos
from honeyguide.partners.logos import StoredLogo
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads
from honeyguide.store.tx import Tx

FETCHING = "fetch from another service"
# Requests that a job makes for one account before it looks after the next.
PAGES_AT_ONCE = 20
UNREADABLE = "documents that could not be read"


class RemoteList(NamedTuple):
    path: str
    key: str


LISTS = {
    FetchStage.PEOPLE: RemoteList("/v2/subscribers", "subscribers"),
    FetchStage.PAYOUTS: RemoteList("/v2/partner_profile/payouts", "payouts"),
    FetchStage.PARTNER_CAMPAIGNS: RemoteList(
        "/v2/partner_profile/partner_campaigns", "partner_campaigns"
    ),
    FetchStage.PUBLICATIONS: RemoteList("/v2/publications", "publications"),
    FetchStage.PARTNER_PROGRAMS: RemoteList("/v2/partner_programs", "partner_programs"),
}


@dataclass(frozen=True)
class Fetcher:
    """What fetching needs."""

    store: Store
    outbound: Outbound
    site: Site
    clock: Clock
    interval_s: float = INTERVAL_S

    def api(self, base_url: str, key: str) -> RemoteApi:
        return RemoteApi(self.outbound, base_url, key, interval_s=self.interval_s)

    async def fetch_page(
        self, fetch: RemoteFetch, api: RemoteApi, *, only_people: bool = False
    ) -> RemoteFetch:
        """Fetches and stores one page, or records why not. Returns how it stands then."""
        try:
            if fetch.stage == FetchStage.PEOPLE:
                await self._fetch_people(fetch, api, only_people)
            else:
                await self._fetch_documents(fetch, api)
        except WrongCredentials as error:
            await self.stop(fetch, error.reason)
        except TooLong as error:
            await self.stop(fetch, f"{error.reason} Import a file from there instead.")
        except PlatformError as error:
            await self.store.write(self._wait, fetch, error)
        return await self.store.read(
            reads(fetching.get, self.site, fetch.tenant, self.clock()), fetch.import_id
        )

    async def _fetch_people(self, fetch: RemoteFetch, api: RemoteApi, only_people: bool) -> None:
        where = LISTS[FetchStage.PEOPLE]
        page = await api.page(where.path, where.key, fetch.page, type="all", expand="campaigns")
        # In a thread: whoever sends a page may make it expensive to read.
        read = await asyncio.to_thread(remote_people.read_people, page.items)
        await self.store.write(self._store_people, fetch, page, read, only_people=only_people)

    async def _fetch_documents(self, fetch: RemoteFetch, api: RemoteApi) -> None:
        stage = fetch.stage
        where = LISTS[stage]
        page = await api.optional_page(where.path, where.key, fetch.page)
        unreadable = 0
        for item in page.items if page else ():
            document = moved_documents.read_document(stage, item)
            if document is None:
                unreadable += 1
            elif not await self.store.read(self._is_here, fetch, document):
                await self._keep(fetch, document)
        await self.store.write(self._move_on, fetch, page, unreadable)

    async def _keep(self, fetch: RemoteFetch, document: RemoteDocument) -> None:
        """A document that cannot become a publication or a program is kept with the reason."""
        match fetch.stage:
            case FetchStage.PUBLICATIONS:
                logo = await self._logo(document)
                try:
                    await self.store.write(self._add_publication, fetch, document, logo)
                except Fault as fault:
                    _raise_unavailable(fault)
                    reason = moved_programs.reason(fault)
                    await self.store.write(self._add_publication, fetch, document, reason)
            case FetchStage.PARTNER_PROGRAMS:
                try:
                    await self.store.write(self._add_program, fetch, document, "")
                except Fault as fault:
                    _raise_unavailable(fault)
                    reason = moved_programs.reason(fault)
                    await self.store.write(self._add_program, fetch, document, reason)
            case _:
                await self.store.write(self._add_document, fetch, document)

    async def _logo(self, document: RemoteDocument) -> StoredLogo | str:
        """Decoded before the transaction. If there is none, the reason."""
        try:
            moved_programs.publication_fields(document)
            url = moved_programs.logo_url(document)
            if not url:
                return moved_programs.NO_LOGO
            answer = await self.outbound.request(
                "GET", url, body=None, headers={}, most_read=logos.SIZE_LIMIT
            )
            if answer.status != 200:
                return moved_programs.NO_LOGO
            return await logos.store(await logos.sanitize_apart(answer.body), self.site.logo_folder)
        except Invalid as fault:
            return moved_programs.reason(fault)

    async def stop(self, fetch: RemoteFetch, problem: str) -> None:
        await self.store.write(self._stop, fetch, problem)

    # -- transactions

    async def _store_people(
        self,
        tx: Tx,
        fetch: RemoteFetch,
        page: RemotePage,
        read: ReadPeople,
        *,
        only_people: bool,
    ) -> None:
        change = self._change(tx, fetch)
        await fetching.store_people(change, fetch, page, read, only_people=only_people)
        await fetching.notify_ended(change, fetch)

    async def _stop(self, tx: Tx, fetch: RemoteFetch, problem: str) -> None:
        change = self._change(tx, fetch)
        await fetching.stop(change, fetch, problem)
        await fetching.notify_ended(change, fetch)

    async def _wait(self, tx: Tx, fetch: RemoteFetch, error: PlatformError) -> None:
        change = self._change(tx, fetch)
        await fetching.wait(
            change,
            fetch,
            error.reason,
            after_s=error.after_s if isinstance(error, TryLater) else None,
            passes=isinstance(error, TryLater),
        )
        await fetching.notify_ended(change, fetch)

    def _change(self, tx: Tx, fetch: RemoteFetch) -> Change:
        return Change(tx, self.site, fetch.tenant, actors.job(FETCHING), self.clock())

    async def _is_here(self, tx: Tx, fetch: RemoteFetch, document: RemoteDocument) -> bool:
        found = await moved_documents.find(
            Reading(tx, self.site, fetch.tenant, self.clock()),
            fetch.stage,
            fetch.base_url,
            document.uuid,
        )
        return found is not None

    async def _add_publication(
        self, tx: Tx, fetch: RemoteFetch, document: RemoteDocument, logo: StoredLogo | str
    ) -> None:
        await moved_programs.add_publication(self._change(tx, fetch), fetch, document, logo)

    async def _add_program(
        self, tx: Tx, fetch: RemoteFetch, document: RemoteDocument, problem: str
    ) -> None:
        await moved_programs.add_program(self._change(tx, fetch), fetch, document, problem)

    async def _add_document(self, tx: Tx, fetch: RemoteFetch, document: RemoteDocument) -> None:
        await moved_documents.add(self._change(tx, fetch), fetch.stage, fetch.base_url, document)

    async def _move_on(
        self, tx: Tx, fetch: RemoteFetch, page: RemotePage | None, unreadable: int
    ) -> None:
        found = Counter({UNREADABLE: unreadable} if unreadable else {})
        change = self._change(tx, fetch)
        await fetching.move(change, fetch, fetching.after_list(fetch, page), found)
        await fetching.notify_ended(change, fetch)


def _raise_unavailable(fault: Fault) -> None:
    """The database is away: that says nothing about the document."""
    if isinstance(fault, Unavailable):
        raise fault


async def fetch_some(
    fetcher: Fetcher, keys: EncryptionKeys, store: Store, found: Sequence[str], now_ms: int
) -> bool:
    """The job: some pages of one fetch. Returns whether it can go on at once."""
    (import_id,) = found
    fetch = await store.read(fetching.get_due, import_id)
    if fetch is None or not fetch.secret:
        return False
    try:
        api = fetcher.api(fetch.base_url, keys.decrypt(fetch.secret, row_id=import_id))
    except Undecryptable as fault:
        await fetcher.stop(fetch, fault.message)
        return False
    for _ in range(PAGES_AT_ONCE):
        try:
            fetch = await fetcher.fetch_page(fetch, api)
        except Missing:  # it was discarded meanwhile
            return False
        if fetch.stage == FetchStage.DONE or fetch.problem:
            return False
    return True
