"""A new reward reaches everybody who qualifies, also those whose referral is just being counted."""

import asyncio

import pytest

from honeyguide.accounts import accounts
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import backfill, earned_rewards, rewards
from honeyguide.rewards.rewards import NewReward
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.changes import changing
from tests.support.readings import reads
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE


class Newsletter:
    def __init__(self, opened: OpenStore) -> None:
        self.store, self.run = opened.store, opened.run
        email = EmailAddress("wax@example.org")
        made = self.run(self.store.write(timed(accounts.create, NOON_MS), email, name="Wax"))
        self.tenant = Tenant(*made)

    async def sign_up(self, tx: Tx, email: str, code: str | None = None) -> Subscriber:
        new = NewSubscriber(email=email, referrer_code=code)
        return await changing(signups.sign_up, SITE, self.tenant, NOON_MS)(tx, new)

    async def offer_mug(self) -> None:
        create = changing(rewards.create, SITE, self.tenant, NOON_MS)
        await self.store.write(create, NewReward("Mug", 1))

    async def sign_up_slowly(
        self, tx: Tx, code: str, written: asyncio.Event, may_commit: asyncio.Event
    ) -> None:
        await self.sign_up(tx, "friend@example.org", code)
        await tx.flush()
        written.set()
        if self.store.engine == "postgres":  # on SQLite nobody else can write meanwhile
            await may_commit.wait()

    async def grant_all(self) -> None:
        while await self.store.write(timed(backfill.grant_batch, NOON_MS), SITE):
            pass


@pytest.mark.parametrize("engine", ENGINES)
def test_a_reward_created_while_a_signup_is_under_way_reaches_its_referrer(engine: str) -> None:
    with OpenStore(engine) as opened:
        wax = Newsletter(opened)

        async def scenario() -> list[str]:
            ann = await wax.store.write(wax.sign_up, "ann@example.org")
            written, may_commit = asyncio.Event(), asyncio.Event()
            friend = asyncio.create_task(
                wax.store.write(wax.sign_up_slowly, ann.ref_code, written, may_commit)
            )
            await written.wait()
            await wax.offer_mug()
            await wax.grant_all()
            may_commit.set()
            await friend
            await wax.grant_all()
            earned = await wax.store.read(reads(earned_rewards.earned_by, wax.tenant), ann.id)
            return [each.name for each in earned]

        assert opened.run(scenario()) == ["Mug"]


def test_a_reward_in_a_database_restored_on_another_server_is_granted(postgres: OpenStore) -> None:
    wax = Newsletter(postgres)

    async def sign_up_and_create() -> Subscriber:
        ann = await wax.store.write(wax.sign_up, "ann@example.org")
        await wax.store.write(wax.sign_up, "friend@example.org", ann.ref_code)
        await wax.offer_mug()
        return ann

    ann = postgres.run(sign_up_and_create())
    # The other server had begun many more transactions than this one.
    assert postgres.do("UPDATE reward SET walk_after = 1000000000000") == 1
    postgres.run(wax.grant_all())
    earned = postgres.run(wax.store.read(reads(earned_rewards.earned_by, wax.tenant), ann.id))
    assert [each.name for each in earned] == ["Mug"]
