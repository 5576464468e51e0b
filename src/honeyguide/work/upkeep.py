"""Upkeep of what the dashboard stands on: files brought in and forgotten, sessions and links too when they are over."""

from __future__ import annotations

from honeyguide.accounts import invitations, sessions
from honeyguide.kernel.site import Site
from honeyguide.partners import importing
from honeyguide.store import Store
from honeyguide.store.tx import Tx


async def bring_in_files(site: Site, store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await importing.step(tx, site, now_ms=now_ms)

    return await store.write(work)


async def forget_files(store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await importing.purge(tx, now_ms=now_ms)

    return await store.write(work)


async def forget_sessions(store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        more = [await purge(tx, now_ms=now_ms) for purge in (sessions.purge, invitations.purge)]
        return any(more)

    return await store.write(work)
