"""Emails to subscribers about their referrals: switched by the operator, one a day, none for
imports and backfills, and none to those who stopped them.
"""

import asyncio
from typing import Any

import pytest

from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails, stops
from honeyguide.mail.emails import QueuedEmail
from honeyguide.rewards import advocate_emails
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers
from tests.support.changes import changing
from tests.support.prizes import advocate, bring, catch_up, offer
from tests.support.readings import change_of_account, in_account
from tests.support.service import Service, until
from tests.support.web import Operator, operator, text_of

DAY_S = 86_400
NEWS = ("friend_joined", "one_more", "reward_unlocked")


@pytest.fixture
def wax(service: Service) -> Operator:
    """Sends all three."""
    member = operator(service, "wax")
    for kind in NEWS:
        switch(member, kind, on=True)
    return member


def switch(member: Operator, kind: str, *, on: bool) -> None:
    page = f"/look/emails?email={kind}"
    fields: dict[str, Any] = {"is_on": "1"} if on else {}
    assert member.web.post(page, **fields).status_code == 303


def news(member: Operator) -> list[QueuedEmail]:
    """The oldest first."""
    found = member.service.read(
        lambda tx: emails.of_account(in_account(tx, member.account_id), Page(1, 200))
    )
    return [each for each in reversed(found) if each.kind in NEWS]


def kinds(member: Operator) -> list[str]:
    return [each.kind for each in news(member)]


def test_a_friend_one_more_and_a_reward_one_email_a_day(wax: Operator) -> None:
    offer(wax, referrals=3)
    ana = advocate(wax, 0)
    try:
        for day, friends in enumerate((1, 1, 1, 2)):
            wax.service.set_clock(day * DAY_S)
            bring(wax, ana, friends)
    finally:
        wax.service.set_clock(0)
    assert kinds(wax) == ["friend_joined", "one_more", "reward_unlocked", "friend_joined"]
    subjects = [each.subject for each in news(wax)]
    assert subjects[:3] == [
        "A friend joined Wax through you",
        "One more friend and you’ve earned “The mug”",
        "You’ve earned “The mug”",
    ]


def test_nothing_is_sent_unless_the_operator_switches_it_on(service: Service) -> None:
    who = operator(service)
    offer(who, referrals=2)
    ana = advocate(who, 1)
    assert kinds(who) == []
    switch(who, "reward_unlocked", on=False)
    bring(who, ana, 1)
    assert kinds(who) == []
    assert "(off)" in text_of(who.web.get("/look/emails").text)


def test_two_rewards_of_a_day_are_told_on_two_days(wax: Operator) -> None:
    offer(wax, referrals=1)
    offer(wax, name="The shirt", referrals=2)
    advocate(wax, 2)
    first, second = news(wax)
    assert {first.subject, second.subject} == {
        "You’ve earned “The mug”",
        "You’ve earned “The shirt”",
    }
    assert abs(second.created_ms - first.created_ms) > DAY_S * 500


def test_imports_and_backfills_are_no_news(wax: Operator) -> None:
    ana = advocate(wax, 0)
    code, site, now_ms = ana["ref_code"], wax.service.services.site, wax.service.now_ms()
    tenant = Tenant(wax.account_id, wax.campaign_id)
    offer(wax, referrals=1)

    async def bring_in(tx: Tx) -> None:
        new = NewSubscriber(email="old@example.org", referrer_code=code, origin="import")
        await changing(signups.sign_up, site, tenant, now_ms)(tx, new)

    wax.service.write(bring_in)
    old = {"referrer_code": code, "created_at": "2024-01-01T00:00:00Z"}
    wax.subscribe("long-ago@example.org", **old)
    offer(wax, name="The shirt", referrals=2)
    catch_up(wax)
    assert kinds(wax) == []
    won = wax.get(f"{wax.v1}/subscribers/{ana['uuid']}/rewards").json()["rewards"]
    assert len(won) == 2, "what they earned is theirs all the same"


def test_friends_at_once_are_one_email(wax: Operator) -> None:
    """On PostgreSQL several connections race for the day; its key decides."""
    ana = advocate(wax, 0)
    ben = advocate(wax, 0, "ben@example.org")
    site, now_ms = wax.service.services.site, wax.service.now_ms()
    tenant = Tenant(wax.account_id, wax.campaign_id)

    async def tell(change: Change, advocate_id: str) -> None:
        found = await subscribers.get(change.of(tenant), advocate_id)
        await advocate_emails.tell_of_friend(change, found)

    async def at_once() -> None:
        work = changing(tell, site, tenant, now_ms)
        store = wax.service.services.store
        await asyncio.gather(*(store.write(work, who["uuid"]) for who in (ana, ben) * 4))

    wax.service.run(at_once())
    assert sorted(each.to_email or "" for each in news(wax)) == [
        "ana@example.org",
        "ben@example.org",
    ]


def test_who_stopped_or_left_gets_none_and_the_list_says_who(wax: Operator) -> None:
    ana, ben, cleo = (advocate(wax, 0, f"{name}@example.org") for name in ("ana", "ben", "cleo"))
    assert "Nobody stopped" in text_of(wax.web.get("/look/emails/stopped").text)
    answer = wax.web.post("/look/emails/stopped", email="nobody@example.org")
    assert answer.status_code == 400 and "No subscriber has" in text_of(answer.text)
    assert wax.web.post("/look/emails/stopped", email="ana@example.org").status_code == 303
    wax.put(f"{wax.v1}/subscribers/{ben['uuid']}", {"status": "unsubscribed"})
    for who in (ana, ben, cleo):
        bring(wax, who, 1)
    until(lambda: {each.status for each in news(wax)} == {"sent", "cancelled"})
    sent = [each.to_email for each in news(wax) if each.status == "sent"]
    assert sent == ["cleo@example.org"] and len(news(wax)) == 2, "none is even queued for Ben"
    page = text_of(wax.web.get("/look/emails/stopped").text)
    assert "ana@example.org" in page and "cleo@example.org" not in page
    other = operator(wax.service, "mallory")
    assert "ana@example.org" not in other.web.get("/look/emails/stopped").text


def test_who_stops_while_one_waits_does_not_get_it(wax: Operator) -> None:
    """The second reward of the day waits for tomorrow."""
    offer(wax, referrals=1)
    offer(wax, name="The shirt", referrals=2)
    ana = advocate(wax, 2)
    wax.service.write(
        lambda tx: stops.stop(
            change_of_account(tx, wax.account_id, now_ms=wax.service.now_ms()), ana["uuid"]
        )
    )
    wax.service.set_clock(2 * DAY_S)
    try:
        bring(wax, advocate(wax, 0, "ben@example.org"), 1)  # wakes the sender
        until(lambda: "cancelled" in [each.status for each in news(wax)])
    finally:
        wax.service.set_clock(0)
    (waited,) = (each for each in news(wax) if each.status == "cancelled")
    assert waited.to_email == "ana@example.org"


@pytest.mark.parametrize("kind", ["friend_joined", "one_more"])
def test_their_texts_can_be_edited_and_previewed(wax: Operator, kind: str) -> None:
    page = f"/look/emails?email={kind}"
    answer = wax.web.post(page, subject="Hooray, {newsletter}", text="Hi {first_name}!", is_on="1")
    assert answer.status_code == 303
    preview = wax.web.get(f"/look/emails/preview?email={kind}").text
    assert "Hooray, Wax" in preview and "Hi Ana!" in preview and "/stop/sample" in preview
    bad = wax.web.post(page, subject="x", text="{coupon}", is_on="1")
    assert bad.status_code == 400 and "stands for nothing here" in text_of(bad.text)
