"""How many statements a signup runs: facts that several consequences need are loaded once."""

from collections import Counter
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.readers import page_branding, signup
from honeyguide.pages.readers.forms import ShownForm
from honeyguide.rewards import advocate_emails
from honeyguide.rewards.advocate_emails import EmailSwitches
from honeyguide.screening.visits import Visit
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Store
from honeyguide.subscribers import branding
from tests.support.changes import changing
from tests.support.noted_statements import Counted
from tests.support.partner_network import join, offer
from tests.support.readings import reading
from tests.support.service import Member, Service
from tests.support.stores import statement


class CountingStore:
    """A store that notes the statements of its writes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.names: list[str] = []

    async def write(self, work: Any) -> Any:
        async def counted(tx: Any) -> Any:
            noting: Any = Counted(tx)
            try:
                return await work(noting)
            finally:
                self.names += noting.names

        return await self._store.write(counted)


def made(answer: Any) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()


def context_of(service: Service, member: Member) -> tuple[Site, Tenant, int]:
    tenant = Tenant(member.account_id, member.campaign_id)
    return service.services.site, tenant, service.now_ms()


def statements_of_signup(service: Service, member: Member, code: str | None) -> list[str]:
    new = NewSubscriber(email="counted@statements.example", referrer_code=code)

    async def sign_up(tx: Any) -> list[str]:
        counted: Any = Counted(tx)
        await changing(signups.sign_up, *context_of(service, member))(counted, new)
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
    switch = changing(advocate_emails.switch, *context_of(service, alice))
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
        "signups.lifecycle.find_referrer",
        "signups.lifecycle.insert",
    ]
    assert names == plain + ["rewards.earned_rewards.offered"] * has_reward


def test_a_form_costs_a_signup_one_statement(service: Service, alice: Member) -> None:
    ann = alice.subscribe("ann@statements.example")
    alice.subscribe("ben@statements.example", referrer_code=ann["ref_code"])
    site, tenant, now_ms = context_of(service, alice)
    brand = page_branding.of_campaign(service.read(lambda tx: branding.of(reading(tx, tenant))))
    store: Any = CountingStore(service.services.store)
    services: Any = SimpleNamespace(store=store, site=site)

    def statements_of(email: str, shown: ShownForm | None) -> list[str]:
        new = NewSubscriber(email=email, referrer_code=ann["ref_code"], origin="signup")
        address = EmailAddress.parse(email)
        store.names = []
        entering = signup.enter(services, brand, new, address, shown=shown, now_ms=now_ms)
        service.run(entering)
        names: list[str] = store.names
        return names

    plain = statements_of("plain@statements.example", None)
    form = ShownForm(new_id(), now_ms, is_same_visitor=True)
    counted = statements_of("counted@statements.example", form)
    assert counted == ["signups.used_forms.use", *plain]
    assert len(counted) <= 10, counted
    assert statements_of("counted@statements.example", form) == [
        "signups.used_forms.use",
        "signups.used_forms.answer",
        "subscribers.links.lookup",
    ]


def test_keeping_robots_out_costs_a_paid_signup_few_statements(
    service: Service, alice: Member
) -> None:
    """Five: the form, the click, the brake on emails, whom the email names and the look at the
    code; and one more if there is evidence to store. A magic link needs no click."""
    program = offer(alice)
    code = join(service.member("bob"), program)["ref_code"]
    alice.put(f"/v2/partner_programs/{program['uuid']}/verification", {"screening": "strong"})
    site, tenant, now_ms = context_of(service, alice)
    brand = page_branding.of_campaign(service.read(lambda tx: branding.of(reading(tx, tenant))))
    store: Any = CountingStore(service.services.store)
    services: Any = SimpleNamespace(store=store, site=site)
    set_rule = statement("UPDATE program SET rule = :rule WHERE id = :id")

    def statements_of(email: str, rule: str, visit: Visit | None) -> Counter[str]:
        service.write(lambda tx: tx.run(set_rule, rule=rule, id=program["uuid"]))
        new = NewSubscriber(email=email, referrer_code=code, origin="signup", visit=visit)
        has_form = visit is not None and visit.was_shown_form is not None
        form = ShownForm(new_id(), now_ms, is_same_visitor=True) if has_form else None
        store.names = []
        address = EmailAddress.parse(email)
        service.run(signup.enter(services, brand, new, address, shown=form, now_ms=now_ms))
        return Counter(store.names)

    before = statements_of("ben@gmail.com", "none", None)
    on_page = Visit(None, ("x", "y"), was_shown_form=True, is_on_link=False)
    expected = {
        "signups.used_forms.use",
        "subscribers.clicks.of_visitor",
        "screening.evidence.insert",  # nobody clicked
        "screening.evidence.queue_look",
        "signups.confirmations.arrival",
        "signups.claims.recommender",
    }
    assert statements_of("ann@gmail.com", "confirmed", on_page) - before == Counter(expected)
    on_link = on_page._replace(is_on_link=True)
    expected -= {"subscribers.clicks.of_visitor", "screening.evidence.insert"}
    assert statements_of("cleo@gmail.com", "confirmed", on_link) - before == Counter(expected)
    # Without a form, there is none to use up, and no click is looked for.
    formless = on_page._replace(was_shown_form=None)
    expected = expected - {"signups.used_forms.use"} | {"screening.evidence.insert"}
    names = statements_of("dora@gmail.com", "confirmed", formless)
    assert names - before == Counter(expected)
    assert names.total() <= 22, names
