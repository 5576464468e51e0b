"""Delayed actions while the world goes on: their subjects change, clocks are set, holding periods
end and errors happen. What cannot be done any more is dropped, and the operator is notified.
"""

from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.signups import delayed_actions, delayed_kinds
from honeyguide.signups.delayed_actions import DELAY_MS
from honeyguide.store.tx import Tx
from honeyguide.work import decisions
from tests.support import belongings
from tests.support.delayed import (
    action_of,
    ask,
    due_of,
    is_gone,
    note,
    notices,
    offered,
    pass_minute,
    person,
    referral,
    reward,
    run_job,
    saved_filter,
    undo,
    written,
)
from tests.support.partner_network import join, offer
from tests.support.races import overlapping
from tests.support.readings import change_of
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.tables import dump
from tests.support.web import Operator, text_of


@pytest.fixture
def service(quiet_service: Service) -> Service:
    """In which nothing waits."""
    quiet_service.write(lambda tx: tx.run(statement("DELETE FROM delayed_action")))
    return quiet_service


@pytest.mark.parametrize(("do", "by_api"), [("verify", "reject"), ("reject", "verify")])
def test_a_decision_through_the_api_meanwhile_stands(alice: Operator, do: str, by_api: str) -> None:
    made = referral(alice)
    ask(alice, made, do=do)
    answer = alice.post(f"{alice.v1}/subscribers/{made['subject']}/referral/{by_api}")
    assert answer.status_code == 200, "the API does not wait"
    after = written(alice.service)
    pass_minute(alice.service)
    done = {"verify": "verified", "reject": "rejected"}
    assert alice.subscriber(made["subject"])["referral_status"] == done[by_api]
    assert action_of(alice, made) is None
    assert notices(alice) == [f"A referral was not {done[do]}"]
    now = written(alice.service)
    assert {table for table in now if now[table] != after[table]} == {"notice", "letter"}
    text = text_of(alice.web.get("/notices").text)
    assert "It changed in the minute after your click." in text


def test_a_reward_that_is_claimed_meanwhile_is_not_redeemed_again(alice: Operator) -> None:
    made = reward("automatic")(alice)
    ask(alice, made, do="redeem")
    assert alice.post(f"{alice.v1}/rewards/{made['subject']}/redeem").status_code == 200
    pass_minute(alice.service)
    assert notices(alice) == ["A reward was not marked as redeemed"]


def test_a_filter_that_is_saved_anew_meanwhile_is_kept(alice: Operator) -> None:
    made = saved_filter(alice)
    ask(alice, made, do="delete")
    alice.service.set_clock(1)
    (saved,) = dump(alice.service)["saved_filter"]
    form = {"name": saved["name"], "query": "status=active"}
    alice.web.post("/subscribers/filters", page="/subscribers", **form)
    alice.service.set_clock(0)
    pass_minute(alice.service)
    assert not is_gone("saved_filter")(alice, made)
    assert notices(alice) == ["A saved filter was not deleted"]


def test_what_waits_for_an_erased_subscriber_is_dropped(alice: Operator) -> None:
    made = referral(alice)
    alice.make(delayed_actions.delay, delayed_kinds.VERIFY, [made["subject"]], note="Secret")
    assert alice.delete(f"{alice.v1}/subscribers/{made['subject']}").status_code == 200
    action = action_of(alice, made)
    assert action is not None and action.arguments == {}
    pass_minute(alice.service)
    assert notices(alice) == ["A referral was not verified"]


def test_a_note_that_is_gone_meanwhile_needs_no_word(alice: Operator) -> None:
    made = note(alice)
    ask(alice, made, do="delete")
    alice.delete(f"{alice.v1}/subscribers/{person(made).rpartition('/')[2]}")
    pass_minute(alice.service)
    assert action_of(alice, made) is None and notices(alice) == []


def test_those_of_a_group_that_changed_are_told_of_once(alice: Operator) -> None:
    group = [belongings.pending(alice) for _ in range(4)]
    answer = ask(alice, {"path": "/review", "id": group, "do": "verify"})
    assert "4 referrals will be verified in a minute." in text_of(answer)
    for subscriber_id in group[:2]:
        alice.post(f"{alice.v1}/subscribers/{subscriber_id}/referral/reject")
    pass_minute(alice.service)
    statuses = [alice.subscriber(each)["referral_status"] for each in group]
    assert statuses == ["rejected", "rejected", "verified", "verified"]
    assert notices(alice) == ["A referral was not verified"]


def test_a_group_is_undone_together_or_one_by_one(alice: Operator) -> None:
    group = [belongings.pending(alice) for _ in range(4)]
    page = ask(alice, {"path": "/review", "id": group, "do": "reject"})
    first = action_of(alice, {"subject": group[0]})
    assert first is not None
    assert "Undone. Nothing was changed." in undo(alice, first.id)
    assert "3 actions were undone." in undo(alice, offered(page))
    pass_minute(alice.service)
    assert {alice.subscriber(each)["referral_status"] for each in group} == {"pending"}


def test_refusals_are_said_at_once(alice: Operator) -> None:
    nobody = belongings.subscriber(alice)
    waiting, good = belongings.awaiting(alice), belongings.pending(alice)
    both = ask(alice, {"path": "/subscribers/decide", "id": [nobody, good], "do": "verify"})
    assert (
        "1 referral will be verified in a minute. 1 refused: Nobody referred this subscriber"
        in text_of(both)
    )
    early = ask(alice, {"path": "/rewards/hand-over", "earned": waiting, "do": "redeem"})
    assert "This reward is awaiting approval; approve it first." in text_of(early)
    pass_minute(alice.service)
    again = ask(alice, {"path": f"/subscribers/{good}", "do": "verify"})
    assert "This referral is already verified." in text_of(again)
    assert action_of(alice, {"subject": good}) is None


# -- time


def test_it_is_due_after_a_minute_and_not_before(alice: Operator) -> None:
    made = referral(alice)
    ask(alice, made, do="verify")
    action = action_of(alice, made)
    assert action is not None
    for ms, is_due in ((DELAY_MS - 1, False), (DELAY_MS, True), (DAY_MS, True)):
        at = action.due_ms - DELAY_MS + ms
        assert (action in due_of(alice.service, at)) == is_due, ms


def test_a_clock_that_is_set_back_delays_it_a_little_or_not_at_all(alice: Operator) -> None:
    made = referral(alice)
    ask(alice, made, do="verify")
    action = action_of(alice, made)
    assert action is not None
    asked_ms = action.due_ms - DELAY_MS
    assert action not in due_of(alice.service, asked_ms - 1_000), "it can still be undone"
    assert action not in due_of(alice.service, asked_ms - DELAY_MS)
    assert action in due_of(alice.service, asked_ms - 30 * DAY_MS), "nobody waits for a month"


def test_moving_the_clock_does_it(alice: Operator) -> None:
    made = referral(alice)
    alice.service.set_clock(20 * 86_400)
    try:
        alice.web.log_in(alice.email)
        ask(alice, made, do="reject")
        run_job(alice.service)
        assert action_of(alice, made) is not None
        alice.service.set_clock(20 * 86_400 + 61)
        run_job(alice.service)
    finally:
        alice.service.set_clock(0)
    assert alice.subscriber(made["subject"])["referral_status"] == "rejected"


def test_a_holding_period_that_ends_meanwhile_does_not_overtake_the_decision(
    service: Service, alice: Operator
) -> None:
    bob = service.member("bob")
    terms = {"referral_pending_duration_enabled": True, "referral_pending_duration": 3}
    code = join(bob, offer(alice, **terms))["ref_code"]
    sent = alice.subscribe("sent@example.org", referrer_code=code)["uuid"]
    ask(alice, {"path": f"/subscribers/{sent}", "do": "reject"})
    ends = statement("UPDATE subscriber SET referral_due_ms = 1 WHERE id = :id")
    service.write(lambda tx: tx.run(ends, id=sent))
    service.run_jobs([delayed_actions.APPLYING])
    assert alice.subscriber(sent)["referral_status"] == "pending"
    pass_minute(service)
    assert alice.subscriber(sent)["referral_status"] == "rejected"
    charges = statement("SELECT COUNT(*) AS n FROM charge WHERE account_id = :id")
    assert service.read(lambda tx: tx.all(charges, id=alice.account_id)) == [(0,)]


def test_an_error_that_is_no_refusal_is_tried_again(
    alice: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = referral(alice)
    ask(alice, made, do="verify")

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(delayed_kinds.signups, "decide", fail)
        pass_minute(alice.service)
    assert action_of(alice, made) is not None and notices(alice) == []
    found = due_of(alice.service, alice.service.now_ms())
    site, store = alice.service.services.site, alice.service.services.store
    alice.service.run(decisions.apply_or_drop(site, store, found, alice.service.now_ms()))
    assert alice.subscriber(made["subject"])["referral_status"] == "verified"


@pytest.mark.parametrize("is_undone_first", [True, False])
def test_of_undo_and_the_job_at_one_moment_the_first_wins(
    alice: Operator, is_undone_first: bool
) -> None:
    made = referral(alice)
    ask(alice, made, do="verify")
    action = action_of(alice, made)
    assert action is not None
    site, tenant = alice.service.services.site, Tenant(alice.account_id, alice.campaign_id)

    async def undo_it(tx: Tx) -> int:
        return await delayed_actions.undo(change_of(tx, tenant), action.id)

    async def apply_it(tx: Tx) -> None:
        await delayed_actions.apply(tx.at(alice.service.now_ms()), site, action)

    order = (undo_it, apply_it) if is_undone_first else (apply_it, undo_it)
    outcomes = alice.service.run(overlapping(alice.service.services.store, *order))
    assert outcomes == ((1, None) if is_undone_first else (None, 0))
    status = alice.subscriber(made["subject"])["referral_status"]
    assert status == ("pending" if is_undone_first else "verified")
    assert notices(alice) == []
