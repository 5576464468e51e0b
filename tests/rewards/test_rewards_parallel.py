"""Exactly once, whoever comes at the same moment: a milestone crossed by fifty, a hundred codes
wanted by two hundred.
"""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import pytest

from honeyguide.accounts import accounts
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import earned_rewards
from honeyguide.signups import lifecycle, signups
from honeyguide.store import Store, open_store
from honeyguide.subscribers import campaigns, slugs
from tests.support.changes import changing
from tests.support.service import ENGINES, Member, fresh_database_url
from tests.support.tables import dump
from tests.support.trade import SITE


def rows(member: Member, table: str) -> list[dict[str, Any]]:
    return [row for row in dump(member.service)[table] if row["account_id"] == member.account_id]


def in_parallel(member: Member, works: list[Any]) -> list[Any]:
    """At once on the service's own loop, each in its own transaction; no more than its connections
    serve without a refusal.
    """

    async def all_at_once() -> list[Any]:
        room = asyncio.Semaphore(50)

        async def enter(work: Any) -> Any:
            async with room:
                return await member.service.services.store.write(work)

        return await asyncio.gather(*map(enter, works))

    return member.service.run(all_at_once())


def signing_up(member: Member, email: str, code: str | None) -> Any:
    services, owner = member.service.services, Tenant(member.account_id, member.campaign_id)
    new = lifecycle.NewSubscriber(email=email, referrer_code=code)

    sign_up = changing(signups.sign_up, services.site, owner, member.service.now_ms())
    return partial(sign_up, new=new)


def offer(member: Member, **fields: Any) -> dict[str, Any]:
    answer = member.post(f"{member.v1}/rewards", {"name": "Mug", "referrals": 1, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["reward"]  # type: ignore[no-any-return]


def test_fifty_parallel_signups_that_cross_a_milestone_unlock_it_once(alice: Member) -> None:
    offer(alice, name="ten", referrals=10)
    offer(alice, name="every seventh", referrals=7, recurring=True)
    ana = alice.subscribe("ana@example.org")
    in_parallel(alice, [signing_up(alice, f"f{n}@example.org", ana["ref_code"]) for n in range(50)])
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 50
    earned = alice.get(f"{alice.v1}/subscribers/{ana['uuid']}/rewards").json()["rewards"]
    assert Counter(each["name"] for each in earned) == {"ten": 1, "every seventh": 7}
    assert sorted(row["multiple"] for row in rows(alice, "won_reward")) == [1, 1, 2, 3, 4, 5, 6, 7]


def test_fifty_parallel_verifications_that_cross_a_milestone_unlock_it_once(alice: Member) -> None:
    offer(alice, referrals=10)
    alice.put(f"{alice.v1}/settings", {"needs_confirmation": True})
    ana = alice.subscribe("ana@example.org")
    held = [
        alice.subscribe(f"f{n}@example.org", referrer_code=ana["ref_code"])["uuid"]
        for n in range(50)
    ]
    services, owner = alice.service.services, Tenant(alice.account_id, alice.campaign_id)

    def confirming(subscriber_id: str) -> Any:
        update = changing(signups.update, services.site, owner, alice.service.now_ms())
        changes = lifecycle.SubscriberChanges(status="confirmed")
        return partial(update, id_or_email=subscriber_id, changes=changes)

    in_parallel(alice, [confirming(subscriber_id) for subscriber_id in held for _ in range(2)])
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 50
    assert len(rows(alice, "won_reward")) == 1


def test_two_hundred_who_want_one_of_a_hundred_codes_get_a_hundred_different_ones(
    alice: Member,
) -> None:
    pool = offer(alice, kind="coupon", coupon_codes=[f"C{n}" for n in range(100)])
    stars = in_parallel(
        alice, [signing_up(alice, f"star{n}@example.org", None) for n in range(200)]
    )
    in_parallel(
        alice,
        [signing_up(alice, f"f{n}@example.org", star.ref_code) for n, star in enumerate(stars)],
    )
    earned = rows(alice, "won_reward")
    assert Counter(row["status"] for row in earned) == {"unlocked": 100, "out_of_stock": 100}
    assert {row["coupon_code"] for row in earned if row["status"] == "unlocked"} == {
        f"C{n}" for n in range(100)
    }
    assert all(row["coupon_code"] is None for row in earned if row["status"] == "out_of_stock")
    given = {row["won_id"]: row["code"] for row in rows(alice, "coupon")}
    assert {row["id"]: row["coupon_code"] for row in earned if row["coupon_code"]} == given
    (counted,) = [row for row in rows(alice, "reward") if row["id"] == pool["uuid"]]
    assert (counted["codes_left"], counted["waiting"], counted["codes_total"]) == (0, 100, 100)


def test_codes_that_arrive_while_others_win_leave_nobody_waiting_beside_a_full_shelf(
    alice: Member,
) -> None:
    pool = offer(alice, kind="coupon", coupon_codes=[])
    services, owner = alice.service.services, Tenant(alice.account_id, alice.campaign_id)
    stars = in_parallel(alice, [signing_up(alice, f"star{n}@example.org", None) for n in range(40)])

    def adding(codes: list[str]) -> Any:
        add = changing(earned_rewards.add_codes, services.site, owner, alice.service.now_ms())
        return partial(add, reward_id=pool["uuid"], codes=codes)

    wins = [signing_up(alice, f"f{n}@example.org", star.ref_code) for n, star in enumerate(stars)]
    fills = [adding([f"C{n}x{i}" for i in range(5)]) for n in range(10)]
    in_parallel(alice, [work for pair in zip(wins, fills * 4, strict=True) for work in pair])
    fill = changing(earned_rewards.fill, services.site, owner, 1)
    in_parallel(alice, [lambda tx: fill(tx, pool["uuid"])])
    earned = rows(alice, "won_reward")
    assert Counter(row["status"] for row in earned) == {"unlocked": 40}
    assert len({row["coupon_code"] for row in earned}) == 40
    (counted,) = [row for row in rows(alice, "reward") if row["id"] == pool["uuid"]]
    assert (counted["codes_left"], counted["waiting"], counted["codes_total"]) == (10, 0, 50)


def test_those_who_wait_are_served_once_however_many_serve_them(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = offer(alice, kind="coupon", coupon_codes=[])
    stars = in_parallel(alice, [signing_up(alice, f"star{n}@example.org", None) for n in range(20)])
    in_parallel(
        alice,
        [signing_up(alice, f"f{n}@example.org", star.ref_code) for n, star in enumerate(stars)],
    )
    services, owner = alice.service.services, Tenant(alice.account_id, alice.campaign_id)
    with monkeypatch.context() as patch:
        patch.setattr(earned_rewards, "FILL_BATCH", 0)  # the codes come, and nobody is served yet
        alice.put(
            f"{alice.v1}/rewards/{pool['uuid']}", {"coupon_codes": [str(n) for n in range(30)]}
        )
    fill = changing(earned_rewards.fill, services.site, owner, 1)
    in_parallel(alice, [lambda tx: fill(tx, pool["uuid"])] * 8)
    earned = rows(alice, "won_reward")
    assert [row["status"] for row in earned] == ["unlocked"] * 20
    assert len({row["coupon_code"] for row in earned}) == 20
    (counted,) = [row for row in rows(alice, "reward") if row["id"] == pool["uuid"]]
    assert (counted["codes_left"], counted["waiting"]) == (10, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slug_that_two_accounts_want_at_once_goes_to_one(engine: str, tmp_path: Any) -> None:
    async def scenario() -> None:
        url = fresh_database_url(engine, tmp_path, migrated=True)
        store: Store = await open_store(url)
        try:
            made = [
                await store.write(
                    lambda tx, n=n: accounts.create(
                        tx.at(1), EmailAddress(f"a{n}@example.org"), name=None
                    )
                )
                for n in range(8)
            ]

            async def configure(owner: Tenant, slug: str) -> None:
                work = changing(campaigns.configure, SITE, owner, 1)
                await store.write(work, campaigns.CampaignSettings(slug=slug))

            async def take(owner: Tenant) -> bool:
                try:
                    await configure(owner, "wax")
                except Invalid as refused:
                    return refused.code != "slug_taken"
                return True

            owners = [Tenant(*each) for each in made]
            took = await asyncio.gather(*map(take, owners))
            assert sum(took) == 1
            winner, other = owners[took.index(True)], owners[took.index(False)]
            found = await store.read(lambda tx: slugs.find(tx, "wax"))
            assert found is not None and found.target_id == winner.campaign_id
            await configure(winner, "honey")
            assert await store.read(lambda tx: slugs.find(tx, "wax")) is None
            assert not await take(other), "a freed slug is free for the same account only"
            assert await take(winner)
        finally:
            await store.close()

    asyncio.run(scenario())
