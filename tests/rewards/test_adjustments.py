"""Adjustments: what an operator adds to an advocate's progress toward rewards, or takes off. They
count wherever progress is measured, and are no referrals.
"""

import re
import threading
from functools import partial
from typing import Any

import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.rewards import adjustments, earned_rewards
from honeyguide.rewards.adjustments import MOST_AMOUNT, AdjustmentFields
from honeyguide.screening import rules
from honeyguide.subscribers import hub, referral_states, subscribers
from tests.support.changes import SITE, changing
from tests.support.embeds import Visitor, embedding
from tests.support.imported import Program
from tests.support.loop_steps import LoopSteps
from tests.support.prizes import advocate, bring, catch_up, earned_by, offer, post_of, tenant_of
from tests.support.races import overlapping
from tests.support.readings import reading
from tests.support.service import ONE_ENGINE, Member, Service
from tests.support.stores import OpenStore
from tests.support.tables import dump
from tests.support.web import operator, text_of


def adjust(
    member: Member, who: dict[str, Any], amount: Any, reason: Any = "Met at our event"
) -> Any:
    body = {"amount": amount, "reason": reason}
    return member.post(f"{member.v1}/subscribers/{who['uuid']}/adjustments", body)


def progress(member: Member, who: dict[str, Any]) -> tuple[int, int, int, int | None]:
    """Referrals, adjustments, both together, and how many are missing to the next reward."""
    body = member.get(f"{member.v1}/subscribers/{who['uuid']}/rewards").json()["progress"]
    ahead = body["next_reward"]
    left = ahead["referrals_left"] if ahead else None
    return body["referrals"], body["adjustments"], body["toward_rewards"], left


def names(member: Member, who: dict[str, Any]) -> list[str]:
    return [each["name"] for each in earned_by(member, who)]


# -- pure


@pytest.mark.parametrize(
    ("verified", "adjusted", "count"), [(3, 0, 3), (3, 2, 5), (3, -2, 1), (0, 4, 4), (1, -3, 0)]
)
def test_both_together_are_never_below_zero(verified: int, adjusted: int, count: int) -> None:
    assert referral_states.toward_rewards(verified, adjusted) == count


@pytest.mark.parametrize(
    ("needed", "count", "once", "recurring"),
    [(3, 0, 0, 0), (3, 2, 0, 0), (3, 3, 1, 1), (3, 5, 1, 1), (3, 6, 1, 2), (1, 4, 1, 4)],
)
def test_how_often_a_reward_is_reached(needed: int, count: int, once: int, recurring: int) -> None:
    assert rules.times_reached(needed, count, is_recurring=False) == once
    assert rules.times_reached(needed, count, is_recurring=True) == recurring


# -- by API


def test_an_adjustment_is_made_listed_and_counts_apart(alice: Member) -> None:
    offer(alice, name="Mug", referrals=5)
    ana = advocate(alice, 2)
    made = adjust(alice, ana, 2, "  Met at our event ")
    assert made.status_code == 201
    shown = made.json()["adjustment"]
    assert set(shown) == {"uuid", "amount", "reason", "adjusted_by", "created_at"}
    assert (shown["amount"], shown["reason"], shown["adjusted_by"]) == (
        2,
        "Met at our event",
        "api",
    )
    adjust(alice, ana, -1)
    listed = alice.get(f"{alice.v1}/subscribers/ana@example.org/adjustments").json()
    assert [each["amount"] for each in listed["adjustments"]] == [-1, 2]
    assert listed["adjustments"][1] == shown
    assert listed["progress"]["next_reward"]["name"] == "Mug"
    assert progress(alice, ana) == (2, 1, 3, 2)
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 2


WRONG = [
    (0, "x", "amount"),
    (MOST_AMOUNT + 1, "x", "amount"),
    (-MOST_AMOUNT - 1, "x", "amount"),
    (10**30, "x", "amount"),
    (1.5, "x", "amount"),
    ("1", "x", "amount"),
    (None, "x", "amount"),
    (1, None, "reason"),
    (1, " ", "reason"),
    (1, "x" * 2_001, "reason"),
    (-3, "x", "amount"),
]


@pytest.mark.parametrize(("amount", "reason", "param"), WRONG, ids=str)
def test_what_is_wrong_is_named_and_changes_nothing(
    alice: Member, amount: Any, reason: Any, param: str
) -> None:
    ana = advocate(alice, 2)
    answer = adjust(alice, ana, amount, reason)
    assert (answer.status_code, answer.json().get("param")) == (400, param), answer.text
    assert progress(alice, ana) == (2, 0, 2, None)


def test_taking_off_leaves_nothing_at_the_least(alice: Member) -> None:
    ana = advocate(alice, 2)
    adjust(alice, ana, 3)
    assert "has 5 toward rewards" in adjust(alice, ana, -6).json()["error"]
    assert adjust(alice, ana, -5).status_code == 201
    assert progress(alice, ana)[2] == 0
    bring(alice, ana, 1)
    assert progress(alice, ana) == (3, -2, 1, None)


def test_a_subscriber_has_so_many_at_most(alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjustments, "MOST_PER_SUBSCRIBER", 2)
    ana = advocate(alice)
    assert [adjust(alice, ana, 1).status_code for _ in range(3)] == [201, 201, 400]


# -- rewards follow


def test_upward_unlocks_and_downward_takes_nothing_back(alice: Member) -> None:
    offer(alice, name="Pen", referrals=2)
    offer(alice, name="Mug", referrals=3)
    offer(alice, name="Sticker", referrals=2, recurring=True)
    ana = advocate(alice)
    adjust(alice, ana, 2)
    assert sorted(names(alice, ana)) == ["Pen", "Sticker"]
    bring(alice, ana, 1)
    assert "Mug" in names(alice, ana), "a referral and two by adjustment are three"
    before = sorted(names(alice, ana))
    adjust(alice, ana, -3)
    assert progress(alice, ana)[2] == 0 and sorted(names(alice, ana)) == before
    adjust(alice, ana, 3)
    assert sorted(names(alice, ana)) == before, "nothing is earned twice"
    adjust(alice, ana, 1)
    assert names(alice, ana).count("Sticker") == 2


def test_a_new_reward_finds_those_whom_only_an_adjustment_brought_there(alice: Member) -> None:
    ana, ben, cat = (advocate(alice, n, f"{n}@example.org") for n in (0, 1, 4))
    adjust(alice, ana, 3)
    adjust(alice, ben, 2)
    adjust(alice, cat, -2)
    dan = advocate(alice, 0, "dan@example.org")
    adjust(alice, dan, 2)
    offer(alice, name="Mug", referrals=3)
    catch_up(alice)
    assert [names(alice, each) for each in (ana, ben, cat, dan)] == [["Mug"], ["Mug"], [], []]


def test_more_than_is_given_at_once_follows_in_the_background(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earned_rewards, "MOST_AT_ONCE", 3)
    offer(alice, name="Sticker", referrals=1, recurring=True)
    catch_up(alice)
    ana = advocate(alice)
    adjust(alice, ana, 8)
    catch_up(alice)
    assert len(names(alice, ana)) == 8


def test_several_recurring_rewards_share_what_is_given_at_once(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earned_rewards, "MOST_AT_ONCE", 3)
    for name in ("Sticker", "Pin", "Card"):
        offer(alice, name=name, referrals=1, recurring=True)
    offer(alice, name="Mug", referrals=8)
    catch_up(alice)
    ana = advocate(alice)
    adjust(alice, ana, 8)
    assert sorted(names(alice, ana)) == ["Card", "Mug", "Pin", "Sticker", "Sticker", "Sticker"]
    catch_up(alice)
    assert len(names(alice, ana)) == 25


def test_events_and_emails_say_what_is_true(alice: Member) -> None:
    offer(alice, name="Pen", referrals=2)
    offer(alice, name="Mug", referrals=5)
    alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook", "reward_unlocked": True})
    ana = advocate(alice)
    adjust(alice, ana, 2)
    (event,) = (
        row for row in dump(alice.service)["event"] if row["account_id"] == alice.account_id
    )
    assert event["type"] == "reward_unlocked"
    assert '"tot_referrals":0' in event["body"] and '"next_reward":3' in event["body"]
    (email,) = post_of(alice, "reward_unlocked")
    text = str(email)
    assert "You’ve earned “Pen”" in text and "0 friends" not in text


def test_two_at_the_same_instant_both_count_and_earn_once(alice: Member) -> None:
    offer(alice, name="Mug", referrals=4)
    ana = advocate(alice)
    crowd = [threading.Thread(target=adjust, args=(alice, ana, 1)) for _ in range(8)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    assert progress(alice, ana) == (0, 8, 8, None)
    assert names(alice, ana) == ["Mug"]


def test_two_at_the_same_moment_do_not_take_off_more_than_there_is(opened: OpenStore) -> None:
    program = Program(opened)
    ana = program.subscribe("ana@example.org")
    program.change(adjustments.add, ana.id, AdjustmentFields(amount=3, reason="Our event"))
    take_off = partial(
        changing(adjustments.add, SITE, program.tenant, program.now_ms),
        id_or_email=ana.id,
        fields=AdjustmentFields(amount=-2, reason="Twice the same friend"),
    )
    outcomes = opened.run(overlapping(opened.store, take_off, take_off))
    assert sorted(type(each).__name__ for each in outcomes) == ["Adjustment", "Invalid"]
    assert program.get("ana@example.org").adjustments == 1


# -- whose they are


def test_a_person_takes_them_along_and_they_are_erased_with_them(alice: Member) -> None:
    ana = advocate(alice, 1)
    reason = f"Known as {new_id()}"
    adjust(alice, ana, 2, reason)
    body = alice.get(f"{alice.v1}/subscribers/{ana['uuid']}/export").json()["export"]
    ((only),) = body["adjustments"]
    assert (only["amount"], only["reason"], only["by"]) == (2, reason, "api_key")
    alice.delete(f"{alice.v1}/subscribers/{ana['uuid']}")
    tables = dump(alice.service)
    assert reason not in str(tables)
    assert not [row for row in tables["adjustment"] if row["subscriber_id"] == ana["uuid"]]
    (row,) = (row for row in tables["subscriber"] if row["id"] == ana["uuid"])
    assert row["adjustments"] == 0


def test_a_stranger_can_neither_see_nor_make_any(alice: Member, bob: Member) -> None:
    ana = advocate(alice)
    adjust(alice, ana, 2)
    missing = adjust(bob, {"uuid": new_id()}, 1)
    stolen = adjust(bob, ana, 1)
    assert stolen.status_code == missing.status_code == 404
    assert stolen.json()["error"] == missing.json()["error"]
    path = f"{bob.v1}/subscribers/{ana['uuid']}/adjustments"
    assert bob.get(path).status_code == 404
    assert progress(alice, ana)[1] == 2


# -- on pages


def test_the_owner_adjusts_on_the_subscribers_page(service: Service) -> None:
    alice = operator(service)
    offer(alice, name="Mug", referrals=4)
    ana = advocate(alice, 1)
    page = f"/subscribers/{ana['uuid']}"
    answer = alice.web.post(
        f"{page}/adjustments", page=page, amount="+2", reason="Met at our event"
    )
    assert answer.status_code == 303
    text = text_of(alice.web.get(page).text)
    assert "Progress adjusted by +2." in text
    assert "1 verified referral, adjusted by +2: 3 toward rewards" in text
    assert "Next: Mug 1 to go" in text
    assert "Progress adjusted by you: +2. Met at our event" in text
    alice.web.post(f"{page}/adjustments", page=page, amount="−1", reason="Counted twice")
    assert progress(alice, ana) == (1, 1, 2, 2)


@pytest.mark.parametrize(
    ("amount", "reason", "wrong"),
    [
        *((amount, "x", 1) for amount in ("", "two", "0", "-9", "+-1")),
        ("1", "", 1),
        ("two", "", 2),
    ],
)
def test_a_wrong_form_comes_back_with_what_was_typed(
    service: Service, amount: str, reason: str, wrong: int
) -> None:
    alice = operator(service)
    ana = advocate(alice, 1)
    path = f"/subscribers/{ana['uuid']}/adjustments"
    answer = alice.web.post(path, page=path.rpartition("/")[0], amount=amount, reason=reason)
    assert answer.status_code == 400
    assert answer.text.count('aria-invalid="true"') == wrong
    assert f'value="{amount or reason}"' in answer.text
    assert progress(alice, ana)[1] == 0


def test_readers_see_it_apart_on_their_page_and_in_the_embed(service: Service) -> None:
    alice = operator(service)
    offer(alice, name="Mug", referrals=4)
    ana = advocate(alice, 1)
    person = service.read(lambda tx: subscribers.get(reading(tx, tenant_of(alice)), ana["uuid"]))
    visitor, site = Visitor(alice, embedding(alice)), service.services.site
    path = re.sub(r"^https?://[^/]+", "", hub.link(site, person))
    assert "Adjusted by" not in alice.web.get(path).text
    adjust(alice, ana, 2, "Secret reason")
    page = alice.web.get(path).text
    text = text_of(page)
    assert "Adjusted by the newsletter: +2" in text and "Refer 1 more friend to get “ Mug ”" in text
    assert "1 confirmed" in text and "Secret reason" not in page
    shown = visitor.post("hub", token=hub.token(site, person.id, person.ref_code)).json()
    assert shown["counts"] == "Friends referred so far: 1 · Adjusted by the newsletter: +2"
    assert shown["title"] == "Next reward: Mug. Still to go: 1"


def test_pages_show_some_of_thousands_and_first_what_is_to_be_claimed(service: Service) -> None:
    alice = operator(service)
    offer(alice, name="Sticker", referrals=1, recurring=True)
    offer(alice, name="Mug", referrals=30)
    ana = advocate(alice)
    adjust(alice, ana, 60)
    catch_up(alice)
    person = service.read(lambda tx: subscribers.get(reading(tx, tenant_of(alice)), ana["uuid"]))
    visitor, site = Visitor(alice, embedding(alice)), service.services.site
    path = re.sub(r"^https?://[^/]+", "", hub.link(site, person))
    token = hub.token(site, person.id, person.ref_code)

    def shown() -> tuple[int, int, int]:
        """What can be claimed, on the dashboard, on the subscriber's own page and in the embed."""
        in_form = visitor.post("hub", token=token).json()["rewards"]
        own = text_of(alice.web.get(f"/subscribers/{ana['uuid']}").text)
        on_page = re.findall(r"/claim/([0-9a-f-]{36})", alice.web.get(path).text)
        return (
            own.count("Ready to claim"),
            len(set(on_page)),
            sum(each["can_claim"] for each in in_form),
        )

    assert shown() == (21, 21, 21)
    assert "40 more." in text_of(alice.web.get(f"/subscribers/{ana['uuid']}").text)
    for each in earned_by(alice, ana)[:50]:
        alice.post(f"{alice.v1}/rewards/{each['uuid']}/redeem")
    left = sum(each["status"] == "unlocked" for each in earned_by(alice, ana))
    assert 0 < left <= 21
    assert shown() == (left, left, left)


@ONE_ENGINE
def test_thousands_of_rewards_keep_nobody_waiting(service: Service) -> None:
    alice = operator(service)
    ana = advocate(alice)
    adjust(alice, ana, 3_000)
    offer(alice, name="Sticker", referrals=1, recurring=True)
    catch_up(alice)
    own = f"/subscribers/{ana['uuid']}"
    # The templates are read once.
    alice.web.get(own)
    adjust(alice, ana, 1)

    def look() -> None:
        for path in (own, f"{own}/export.json"):
            assert alice.web.get(path).status_code == 200

    def adjust_again() -> None:
        assert adjust(alice, ana, MOST_AMOUNT).status_code == 201

    with LoopSteps(service) as steps:
        steps.judge("pages", look)
        steps.judge("another adjustment", adjust_again)
    assert not steps.slow, steps.report()
