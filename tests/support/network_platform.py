"""An email platform that the owners of programs are connected with, behind the real queue of
writes.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from honeyguide.events import signature
from honeyguide.events.outbound import Outbound
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store
from tests.support.integrations import Synced, connect_tool
from tests.support.platforms.generic import GenericTool
from tests.support.platforms.stand_in import FREE


class NetworkPlatform:
    def __init__(self, store: Store, tool: GenericTool, outbound: Outbound) -> None:
        self._store = store
        self._tool = tool
        self._outbound = outbound
        self._owners: list[Synced] = []

    async def connect(self, owner: Tenant, now_ms: int) -> None:
        """Everybody is to be added there."""
        synced = Synced(self._store, owner, self._outbound)
        synced.now_ms = now_ms
        await connect_tool(synced, self._tool, adds_existing=True)
        self._owners.append(synced)

    async def sync(self, now_ms: int) -> set[str]:
        """Writes all that is due now; the IDs of the subscribers that were written."""
        self._tool.seen.clear()
        for synced in self._owners:
            synced.now_ms = now_ms
            await synced.wait_a_bit()
            await synced.sync()
            assert (await synced.integration()).problem is None
        written = [json.loads(each.body)["subscribers"] for each in self._tool.seen]
        return {contact["id"] for contacts in written for contact in contacts}


@asynccontextmanager
async def network_platform(store: Store) -> AsyncIterator[NetworkPlatform]:
    tool, outbound = GenericTool(signature.new_secret()), Outbound(FREE)
    async with tool.serving():
        try:
            yield NetworkPlatform(store, tool, outbound)
        finally:
            await outbound.close()
