"""The demo's list from another tool, which is imported as an operator would."""

import asyncio

from honeyguide import settings
from honeyguide.accounts import accounts
from honeyguide.app import opened
from honeyguide.demo import moved_in
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import importing
from honeyguide.signups import lifecycle
from honeyguide.store import Tx
from honeyguide.subscribers import subscribers
from tests.support.process import migrated
from tests.support.readings import reads


def test_the_old_codes_and_counts_of_the_demos_list_are_there() -> None:
    async def check() -> None:
        async with opened(settings.Settings(database_url=migrated("sqlite"))) as services:

            async def create(tx: Tx) -> Tenant:
                email = EmailAddress("demo@wax.example")
                made = await accounts.create(tx.at(services.clock()), email, name="Wax")
                return Tenant(made.account_id, made.campaign_id)

            tenant = await services.store.write(create)
            await moved_in.move_in(services, tenant, now_ms=services.clock())
            (kept,) = await services.store.read(reads(importing.of_account, tenant))
            assert (kept.status, kept.added, kept.failed) == ("done", 12, 0)
            assert await services.store.read(reads(importing.count_findings, tenant), kept.id) == {}
            ines = await services.store.read(reads(lifecycle.find_referrer, tenant), "Ines4F2A")
            assert ines is not None and ines.email == "ines@hive.example"
            found = await services.store.read(reads(subscribers.get, tenant), ines.id)
            # Three of her seven are in the list.
            assert (found.referrals_verified, found.adjustments) == (3, 4)

    asyncio.run(check())
