"""The verified link hosts, in memory."""

from __future__ import annotations

from honeyguide.kernel.clock import Clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store
from honeyguide.subscribers import link_host_rules
from honeyguide.subscribers.link_hosts import HOSTS, all_verified


class LinkHostMap:
    """Every request asks whether it came to a link host. A change clears the map, here at once
    and in other processes within moments, and nothing is kept for longer than the clock allows."""

    KEPT_MS = 10_000

    def __init__(self, store: Store, site: Site, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._own = link_host_rules.own_hosts(site)
        self._hosts: dict[str, Tenant] = {}
        self._read_ms: int | None = None
        self._changes = 0
        store.listen(HOSTS, self._clear)

    def _clear(self) -> None:
        self._read_ms = None
        self._changes += 1

    async def find(self, host: str) -> Tenant | None:
        """Whose host it is. No lookup for what cannot be one: our own, IP addresses, localhost."""
        host = link_host_rules.normalize(host)
        if host in self._own or not link_host_rules.may_be_host(host):
            return None
        now_ms = self._clock()
        if self._read_ms is None or not 0 <= now_ms - self._read_ms < self.KEPT_MS:
            await self._read(now_ms)
        return self._hosts.get(host)

    async def _read(self, now_ms: int) -> None:
        changes = self._changes
        try:
            found = await self._store.read(all_verified)
        except Unavailable:
            # What was known serves on. Nothing else of an account can be served meanwhile.
            self._read_ms = now_ms
            return
        self._hosts = {each.host: Tenant(each.account_id, each.campaign_id) for each in found}
        if changes == self._changes:
            self._read_ms = now_ms
