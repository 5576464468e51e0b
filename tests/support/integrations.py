"""A newsletter that is connected with a stand-in of a platform, and a worker that syncs until
nothing is left to do.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from honeyguide.accounts import accounts
from honeyguide.events.outbound import Outbound
from honeyguide.integrations import incoming, integrations, leases, outgoing
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.field_names import SPARKLOOP
from honeyguide.integrations.integrations import Integration, NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.integrations.reports import IncomingHook
from honeyguide.integrations.worker import IntegrationWorker
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import rewards
from honeyguide.rewards.rewards import NewReward
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.store import Store
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import campaigns, subscribers
from honeyguide.subscribers.campaigns import CampaignSettings
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.changes import changing
from tests.support.platforms.generic import GenericTool
from tests.support.platforms.stand_in import FREE
from tests.support.readings import reads
from tests.support.stores import statement
from tests.support.trade import NOON_MS, SITE

KEYS = EncryptionKeys([b"\xab" * 32])
FIELDS_OF = SPARKLOOP
# The fields that the stand-ins have.
NAMES = {SyncField.CODE: "RH_CODE", SyncField.REFERRALS: "RH_TOTREF"}


class Synced:
    """The newsletter, its platform and the worker between them. The clock moves by hand."""

    def __init__(self, store: Store, tenant: Tenant, outbound: Outbound) -> None:
        self.store = store
        self.tenant = tenant
        self.now_ms = NOON_MS
        self.outbound = outbound
        self.worker = self.new_worker()

    def new_worker(self) -> IntegrationWorker:
        return IntegrationWorker(self.store, self.outbound, lambda: self.now_ms, SITE, KEYS)

    async def connect(self, platform: str, credentials: dict[str, str], **options: Any) -> None:
        new = NewIntegration(
            **{
                "platform": platform,
                "credentials": credentials,
                "audience": Audience(id="list", name="The list"),
                "field_names": FIELDS_OF,
                "code_field": "",
                "adds_existing": False,
                "hook_key": f"hook-{platform}-{self.tenant.campaign_id}",
                **options,
            }
        )
        await self.make(integrations.connect, KEYS, new)

    async def integration(self) -> Integration:
        return await self.store.read(reads(integrations.get, self.tenant))

    async def sync(self, rounds: int = 100) -> None:
        """Until nothing is due. What waits for its time, waits, unless it is the pace."""
        for _ in range(rounds):
            integration = await self.store.read(reads(integrations.find, self.tenant))
            wait_ms = integration.next_call_ms - system_clock() if integration else 0
            await asyncio.sleep(wait_ms / 1000 if 0 < wait_ms < 1000 else 0)
            if not await self.store.read(timed(leases.due, self.now_ms)):
                return
            await self.worker.begin_due()
            await self.worker.finish()

    async def wait_over(self) -> None:
        """As if the wait after a failure were over."""
        await self.make(integrations.set_status, integrations.ACTIVE)

    async def wait_a_bit(self) -> None:
        """As if the wait after a failure were over, though nobody did anything."""
        over = statement("UPDATE integration SET next_call_ms = 0", "changes integration")
        await self.store.write(lambda tx: tx.run(over))

    async def join(self, email: str, code: str | None = None, **fields: Any) -> Subscriber:
        new = NewSubscriber(email=email, referrer_code=code, **fields)
        return await self.store.write(self._changing(signups.sign_up), new)

    async def change(self, who: str, /, **fields: Any) -> None:
        changes = SubscriberChanges(**fields)
        await self.store.write(self._changing(signups.update), who, changes)

    async def erase(self, email: str) -> None:
        await self.store.write(self._changing(signups.erase), email)

    async def configure(self, chosen: CampaignSettings) -> None:
        await self.store.write(self._changing(campaigns.configure), chosen)

    async def offer(self, new: NewReward) -> None:
        await self.store.write(self._changing(rewards.create), new)

    async def make(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        """Makes a change to this account now: `unit(change, …)`."""
        return await self.store.write(self._changing(unit), *args, **kwargs)

    def _changing(self, unit: Any) -> Any:
        return changing(unit, SITE, self.tenant, self.now_ms)

    async def find(self, email: str) -> Subscriber | None:
        return await self.store.read(reads(subscribers.find, self.tenant), email)

    async def receive(self, hook: IncomingHook, signed_at: str = "") -> bool:
        """As the endpoint does after it has verified the webhook."""
        return await self.store.write(
            timed(incoming.store_hook, self.now_ms),
            await self.integration(),
            hook,
            signed_at=signed_at,
        )

    def pass_a_minute(self) -> None:
        """Until somebody who was just written may be written again."""
        self.now_ms += outgoing.GAP_MS

    def pass_a_day(self) -> None:
        self.now_ms += DAY_MS + 1


@asynccontextmanager
async def newsletter(store: Store, email: str = "wax@example.org") -> AsyncIterator[Synced]:
    async def begin(tx: Tx) -> Tenant:
        made = await accounts.create(tx.at(NOON_MS), EmailAddress(email), name="Wax")
        return Tenant(made.account_id, made.campaign_id)

    outbound = Outbound(FREE)
    try:
        yield Synced(store, await store.write(begin), outbound)
    finally:
        await outbound.close()


async def replace_key(synced: Synced, tool: GenericTool) -> None:
    """The operator enters the key that the tool has now."""
    await synced.make(
        integrations.replace_credentials,
        KEYS,
        {"url": f"{tool.url}/hook", "secret": tool.secret},
        Audience(id="list", name="The list"),
    )


async def connect_tool(synced: Synced, tool: GenericTool, **options: Any) -> None:
    credentials = {"url": f"{tool.url}/hook", "secret": tool.secret}
    await synced.connect("generic", credentials, **options)
