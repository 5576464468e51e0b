"""A subscriber who came with an unknown code gets their referrer later: what follows is what would
have followed a signup with the right code, once, whoever else tries it at the same moment.
"""

from functools import partial
from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import rewards
from honeyguide.rewards.rewards import NewReward
from honeyguide.signups import claimed_codes, signups
from honeyguide.signups.claimed_codes import AlreadyRepaired
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns, search, subscribers
from honeyguide.subscribers.campaigns import CampaignSettings
from honeyguide.subscribers.subscribers import Subscriber
from tests.subscribers.test_subscriber_check import wrong
from tests.support.changes import changing
from tests.support.races import overlapping
from tests.support.readings import reads
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE

LISTEN = """INSERT INTO webhook (id, account_id, url, secret, created_ms, new_referral,
    reward_unlocked, new_subscriber, referral_verified, referral_rejected)
VALUES (:id, :account_id, 'https://hooks.example/x', 'x', 1, 1, 1, 1, 1, 1)"""


def newsletter(opened: OpenStore, **settings: Any) -> Tenant:
    campaign_id, _ = opened.account_with_key(
        f"owner{len(opened.ask('SELECT id FROM account'))}@a.b"
    )
    ((account_id,),) = opened.ask("SELECT account_id FROM campaign WHERE id = :id", id=campaign_id)
    tenant = Tenant(account_id, campaign_id)

    async def prepare(tx: Tx) -> None:
        chosen = CampaignSettings(name="Wax", **settings)
        await changing(campaigns.configure, SITE, tenant, NOON_MS)(tx, chosen)
        create = changing(rewards.create, SITE, tenant, NOON_MS)
        await create(tx, NewReward(name="Mug", referrals=1))

    opened.run(opened.store.write(prepare))
    return tenant


def join(opened: OpenStore, tenant: Tenant, email: str, **fields: Any) -> Subscriber:
    new = NewSubscriber(email=email, **fields)
    work = partial(changing(signups.sign_up, SITE, tenant, NOON_MS), new=new)
    return opened.run(opened.store.write(work))


def repairing(tenant: Tenant, subscriber: Subscriber, referrer: str) -> Any:
    return partial(
        changing(claimed_codes.set_referrer, SITE, tenant, NOON_MS),
        subscriber_id=subscriber.id,
        code_or_email=referrer,
    )


def repair(opened: OpenStore, tenant: Tenant, subscriber: Subscriber, referrer: str) -> Subscriber:
    return opened.run(opened.store.write(repairing(tenant, subscriber, referrer)))


def read(opened: OpenStore, tenant: Tenant, subscriber: Subscriber) -> Subscriber:
    return opened.run(opened.store.read(reads(subscribers.get, tenant), subscriber.id))


def facts(opened: OpenStore, tenant: Tenant) -> Any:
    """What became of everybody, of their rewards and of what others are told."""
    return [
        opened.ask(sql, account_id=tenant.account_id)
        for sql in (
            "SELECT s.email, s.status, r.email, s.referrer_code = r.ref_code, s.claimed_code, "
            "s.referral_status, s.referral_reason, s.referral_due_ms, s.referral_behind, "
            "s.decided_by, s.decided_ms, s.referrals_verified, s.referrals_pending, "
            "s.referrals_rejected, s.is_advocate FROM subscriber AS s LEFT JOIN subscriber AS r "
            "ON r.id = s.referrer_id WHERE s.account_id = :account_id ORDER BY s.email",
            "SELECT status, earned_ms FROM won_reward WHERE account_id = :account_id",
            "SELECT type FROM event WHERE account_id = :account_id ORDER BY type",
            "SELECT kind FROM letter WHERE account_id = :account_id ORDER BY kind",
        )
    ]


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "plain": ({}, {}, "verified"),
    "held": ({"hold_days": 5}, {}, "pending"),
    "unconfirmed": ({"needs_confirmation": True}, {}, "pending"),
    "confirmed": ({"needs_confirmation": True}, {"status": "confirmed"}, "verified"),
    "gone": ({}, {"status": "unsubscribed"}, "rejected"),
    "disposable": ({}, {"email": "friend@mailinator.com"}, "rejected"),
    "alias": ({}, {"email": "star+2@gmail.com"}, "rejected"),
    "near": ({"screening": "strong"}, {"ip_address": "9.9.9.9"}, "pending"),
    "strict": ({"screening": "strict"}, {"ip_address": "9.9.9.9"}, "rejected"),
    "imported": ({}, {"origin": "import"}, "verified"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_outcome_is_that_of_a_signup_with_the_right_code(opened: OpenStore, case: str) -> None:
    settings, fields, status = CASES[case]
    outcomes = []
    for claimed in ("", "OLD-code-1"):
        tenant = newsletter(opened, **settings)
        opened.do(LISTEN, id=new_id(), account_id=tenant.account_id)
        star = join(opened, tenant, "star@gmail.com", ip_address="9.9.9.9")
        new = {"email": "friend@example.org", **fields}
        friend = join(opened, tenant, referrer_code=claimed or star.ref_code, **new)
        if claimed:
            assert (friend.referrer_code, friend.claimed_code) == (None, claimed)
            made = repair(opened, tenant, friend, "STAR@gmail.com")
            assert made == read(opened, tenant, friend)
        assert read(opened, tenant, friend).referral_status == status
        assert wrong(opened) == {}
        outcomes.append(facts(opened, tenant))
    assert outcomes[0] == outcomes[1]


def test_a_code_serves_as_well_as_an_address_and_whoever_is_wrong_is_refused(
    opened: OpenStore,
) -> None:
    tenant, other = newsletter(opened), newsletter(opened)
    star, stranger = (join(opened, each, "star@example.org") for each in (tenant, other))
    friend = join(opened, tenant, "friend@example.org", referrer_code="old")
    before = facts(opened, tenant)
    for referrer in ("", "nobody", "no@example.org", stranger.ref_code, friend.ref_code):
        with pytest.raises(Invalid) as refused:
            repair(opened, tenant, friend, referrer)
        assert refused.value.param == "referrer"
    with pytest.raises(Missing):
        repair(opened, other, friend, stranger.ref_code)
    assert facts(opened, tenant) == before
    assert repair(opened, tenant, friend, f" {star.ref_code.upper()} ").referrer_id == star.id
    with pytest.raises(AlreadyRepaired):
        repair(opened, tenant, friend, star.ref_code)


def test_of_two_operators_at_once_one_decides(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ana, ben = (join(opened, tenant, f"{name}@example.org") for name in ("ana", "ben"))
    friend = join(opened, tenant, "friend@example.org", referrer_code="old")
    first, second = opened.run(
        overlapping(
            opened.store,
            repairing(tenant, friend, ana.ref_code),
            repairing(tenant, friend, ben.ref_code),
        )
    )
    assert first.referrer_id == ana.id and isinstance(second, AlreadyRepaired)
    assert [read(opened, tenant, each).referrals_verified for each in (ana, ben)] == [1, 0]
    assert opened.ask("SELECT COUNT(*) FROM won_reward") == [(1,)]
    assert wrong(opened) == {}


def test_two_said_to_have_referred_each_other_at_once_close_a_loop(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ana, ben = (
        join(opened, tenant, f"{name}@example.org", referrer_code="old") for name in ("ana", "ben")
    )
    opened.run(
        overlapping(
            opened.store,
            repairing(tenant, ana, ben.ref_code),
            repairing(tenant, ben, ana.ref_code),
        )
    )
    assert read(opened, tenant, ana).referral_status == "verified"
    assert read(opened, tenant, ben).referral_reason == "referral_loop"
    assert wrong(opened) == {}


def test_only_codes_that_nobody_ever_had_are_counted(opened: OpenStore) -> None:
    tenant, other = newsletter(opened), newsletter(opened)
    gone = join(opened, tenant, "gone@example.org")
    erase = changing(signups.erase, SITE, tenant, NOON_MS)
    opened.run(opened.store.write(erase, gone.id))
    foreign = join(opened, other, "b@example.org")
    codes = ["old", "old", "new", "", " ", gone.ref_code.upper(), foreign.ref_code]
    made = [
        join(opened, tenant, f"f{number}@example.org", referrer_code=code)
        for number, code in enumerate(codes)
    ]

    def count(most: int = 100) -> int:
        return opened.run(opened.store.read(reads(search.count_unknown_codes, tenant), most=most))

    assert (count(), count(2)) == (4, 2)
    same = partial(reads(search.of_unknown_code, tenant), most=9)
    assert opened.run(opened.store.read(same, code="old")) == [made[0].id, made[1].id]
    assert opened.run(opened.store.read(same, code=codes[5])) == []
    forget = changing(claimed_codes.forget, SITE, tenant, NOON_MS)
    opened.run(opened.store.write(forget, made[2].id))
    assert count() == 3 and read(opened, tenant, made[2]).claimed_code is None
    with pytest.raises(AlreadyRepaired):
        opened.run(opened.store.write(forget, made[2].id))
