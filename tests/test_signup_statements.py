"""How many statements a signup runs: facts that several consequences need are loaded once."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import advocate_emails
from honeyguide.referrals.advocate_emails import EmailSwitches
from honeyguide.referrals.lifecycle import NewSubscriber
from honeyguide.signups import signups
from tests.support.changes import changing
from tests.support.service import Member, Service


class Counted:
    """A transaction that notes the statements that pass through it."""

    def __init__(self, tx: Any) -> None:
        self._tx = tx
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._tx, name)
        if name not in ("one", "all", "lock", "run", "put"):
            return method

        def counted(statement: Any, *args: Any, **params: Any) -> Any:
            self.names.append(statement.name)
            return method(statement, *args, **params)

        return counted


def made(answer: Any) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()


def whose(service: Service, member: Member) -> tuple[Site, Tenant, int]:
    tenant = Tenant(member.account_id, member.campaign_id)
    return service.services.site, tenant, service.now_ms()


def statements_of_signup(service: Service, member: Member, code: str | None) -> list[str]:
    new = NewSubscriber(email="counted@statements.example", referrer_code=code)

    async def sign_up(tx: Any) -> list[str]:
        counted: Any = Counted(tx)
        await changing(signups.sign_up, *whose(service, member))(counted, new)
        names: list[str] = counted.names
        return names

    return service.write(sign_up)


def test_a_signup_with_every_consequence_loads_each_fact_once(
    service: Service, alice: Member
) -> None:
    """One webhook with four events, one reward, emails on, and the campaign's first referral."""
    ann = alice.subscribe("ann@statements.example")
    flags = {"new_referral": True, "reward_unlocked": True}
    hook = made(alice.post("/v2/webhooks", {"url": "https://wax.example/hook", **flags}))
    more = {"new_subscriber": True, "referral_verified": True}
    made(alice.put(f"/v2/webhooks/{hook['webhook']['uuid']}/more_events", more))
    made(alice.post(f"{alice.v1}/rewards", {"name": "Mug", "referrals": 1}))
    switch = changing(advocate_emails.switch, *whose(service, alice))
    for kind in EmailSwitches._fields:
        service.write(partial(switch, kind=kind, is_on=True))
    names = statements_of_signup(service, alice, ann["ref_code"])
    twice = {name for name, times in Counter(names).items() if times > 1}
    # The email about the reward, that about the friend (refused: one a day), that to the operator.
    assert twice == {"mail.emails.insert"}
    assert len(names) <= 24, names


@pytest.mark.parametrize("has_reward", [False, True])
def test_a_plain_referred_signup_asks_no_more_than_it_must(
    service: Service, alice: Member, has_reward: bool
) -> None:
    if has_reward:
        made(alice.post(f"{alice.v1}/rewards", {"name": "Mug", "referrals": 9}))
    ann = alice.subscribe("ann@statements.example")
    alice.subscribe("ben@statements.example", referrer_code=ann["ref_code"])
    names = statements_of_signup(service, alice, ann["ref_code"])
    plain = [
        "signups.signups.arrival",
        "referrals.lifecycle.find_referrer",
        "referrals.lifecycle.insert",
    ]
    assert names == plain + ["referrals.earned_rewards.offered"] * has_reward
