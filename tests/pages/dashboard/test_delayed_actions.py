"""Delayed actions: what is done on the dashboard waits a minute as a row. Before that nothing else
is written, and of what was undone only that somebody undid it.
"""

import json
from collections.abc import Callable
from typing import NamedTuple

import pytest

from honeyguide.accounts.permissions import Right, Role
from honeyguide.kernel.errors import Forbidden
from honeyguide.pages.dashboard.routes import PAGE_RIGHTS
from honeyguide.signups import delayed_actions, delayed_kinds
from tests.support import trait_groups
from tests.support.delayed import (
    Fields,
    action_of,
    ask,
    claim,
    is_gone,
    look,
    note,
    notices,
    offered,
    pass_minute,
    person,
    referral,
    reward,
    saved_filter,
    undo,
    written,
)
from tests.support.partner_network import join, offer
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.team import colleague
from tests.support.web import Operator, operator, text_of


class Case(NamedTuple):
    """How one kind is asked for on a page."""

    kind: str
    make: Callable[[Operator], Fields]
    """What the form has; `path` is where it goes."""
    says: str
    shown_on: tuple[str, ...]
    is_done: Callable[[Operator, Fields], bool]


def has_status(status: str) -> Callable[[Operator, Fields], bool]:
    return lambda owner, made: owner.subscriber(made["subject"])["referral_status"] == status


def reward_is(status: str) -> Callable[[Operator, Fields], bool]:
    def check(owner: Operator, made: Fields) -> bool:
        earned = owner.get(f"{owner.v1}{person(made)}/rewards").json()["rewards"]
        return [each["status"] for each in earned if each["uuid"] == made["subject"]] == [status]

    return check


def is_looked_at(owner: Operator, made: Fields) -> bool:
    looked = statement("SELECT looked_ms FROM first_look WHERE id = :id")
    return owner.service.read(lambda tx: tx.all(looked, id=made["subject"])) != [(None,)]


def is_declined(owner: Operator, made: Fields) -> bool:
    earned = owner.get(f"{owner.v1}{person(made)}/rewards").json()["rewards"]
    return [each["claimed_at"] for each in earned if each["uuid"] == made["subject"]] == [None]


CASES = {
    case.kind: case
    for case in (
        Case(
            "verify",
            lambda owner: {**referral(owner), "do": "verify"},
            "1 referral will be verified in a minute.",
            ("/subscribers", "/review?show=pending", "{person}"),
            has_status("verified"),
        ),
        Case(
            "reject",
            lambda owner: {**referral(owner), "do": "reject"},
            "1 referral will be rejected in a minute.",
            ("/subscribers", "/review?show=pending", "{person}"),
            has_status("rejected"),
        ),
        Case(
            "approve_group",
            lambda owner: {**trait_groups.group(owner), "answer": "looks_right"},
            "1 group will be approved in a minute.",
            ("/review",),
            lambda owner, made: trait_groups.is_approved(owner, made["subject"]),
        ),
        Case(
            "approve",
            lambda owner: {**reward("manual")(owner), "do": "approve"},
            "1 reward will be approved in a minute.",
            ("/rewards", "{person}"),
            reward_is("unlocked"),
        ),
        Case(
            "redeem",
            lambda owner: {**reward("automatic")(owner), "do": "redeem"},
            "1 reward will be marked as redeemed in a minute.",
            ("/rewards", "{person}"),
            reward_is("redeemed"),
        ),
        Case(
            "decline",
            lambda owner: {**claim(owner), "do": "decline"},
            "1 claim will be declined in a minute.",
            ("/rewards", "{person}"),
            is_declined,
        ),
        Case(
            "approve_readers",
            lambda owner: {**look(owner), "do": "right"},
            "1 partner will be marked as looking right in a minute.",
            ("/review/looks",),
            is_looked_at,
        ),
        Case(
            "refuse_readers",
            lambda owner: {**look(owner), "path": "/review/looks/refuse"},
            "1 partner will be refused in a minute.",
            ("/review/looks",),
            is_looked_at,
        ),
        Case(
            "delete_note",
            lambda owner: {**note(owner), "do": "delete"},
            "1 note will be deleted in a minute.",
            ("{person}",),
            is_gone("subscriber_note"),
        ),
        Case(
            "delete_filter",
            lambda owner: {**saved_filter(owner), "do": "delete"},
            "1 saved filter will be deleted in a minute.",
            ("/subscribers",),
            is_gone("saved_filter"),
        ),
    )
}
EVERY_KIND = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture
def service(quiet_service: Service) -> Service:
    """In which nothing waits."""
    quiet_service.write(lambda tx: tx.run(statement("DELETE FROM delayed_action")))
    return quiet_service


def test_every_kind_is_tried() -> None:
    assert CASES.keys() == delayed_kinds.BY_NAME.keys()


@EVERY_KIND
def test_it_is_shown_until_it_is_done_and_nothing_else_is_written_before(
    alice: Operator, case: Case
) -> None:
    made = case.make(alice)
    before = written(alice.service)
    page = ask(alice, made)
    assert case.says in text_of(page) and offered(page)
    done = delayed_kinds.BY_NAME[case.kind].done
    for path in case.shown_on:
        shown = text_of(alice.web.get(path.format(person=person(made))).text)
        assert f"Will be {done} in less than a minute · Undo" in shown, path
    assert written(alice.service) == before, "somebody could learn of it"
    assert not case.is_done(alice, made)
    pass_minute(alice.service)
    assert case.is_done(alice, made) and action_of(alice, made) is None
    for path in case.shown_on:
        assert "in less than a minute" not in alice.web.get(path.format(person=person(made))).text


@pytest.mark.parametrize("kind", ["verify", "reject", "approve", "redeem"])
def test_the_change_log_names_who_asked_for_it(alice: Operator, kind: str) -> None:
    made = CASES[kind].make(alice)
    ask(alice, made)
    logged = statement(
        "SELECT id, actor_kind, actor_id FROM change_log WHERE account_id = :id ORDER BY id"
    )

    def entries() -> set[tuple[str, str, str]]:
        return set(alice.service.read(lambda tx: tx.all(logged, id=alice.account_id)))

    before = entries()
    pass_minute(alice.service)
    new = {entry[1:] for entry in entries() - before}
    assert new == {("member", alice.user_id)}, "not the job that does it"


@EVERY_KIND
@pytest.mark.parametrize("by", ["its own button", "the flash message"])
def test_what_is_undone_never_happens(alice: Operator, case: Case, by: str) -> None:
    made = case.make(alice)
    before = written(alice.service)
    page = ask(alice, made)
    action = action_of(alice, made)
    assert action is not None
    answer = undo(alice, action.id if by == "its own button" else offered(page))
    assert "Undone. Nothing was changed." in answer
    pass_minute(alice.service)
    after = written(alice.service)
    (entry,) = [row for row in after.pop("change_log") if row not in before["change_log"]]
    del before["change_log"]
    assert after == before
    facts = delayed_kinds.BY_NAME[case.kind]
    assert (entry["action"], entry["subject_id"]) == (facts.undone, made["subject"])
    assert entry["actor_id"] == alice.user_id and entry["after"] is None
    assert json.loads(entry["before"]) == {"action": case.kind, "asked_by": alice.user_id}
    assert not case.is_done(alice, made)
    assert "There was nothing left to undo" in undo(alice, action.id)


@EVERY_KIND
def test_undoing_needs_the_right_that_asking_needs(alice: Operator, case: Case) -> None:
    made = case.make(alice)
    ask(alice, made)
    action, right = action_of(alice, made), delayed_kinds.BY_NAME[case.kind].right
    assert action is not None
    assert right is PAGE_RIGHTS.right_for("POST", made["path"])
    others = set(Right) - {right}
    with pytest.raises(Forbidden, match="may not undo"):
        alice.make(delayed_actions.undo_by_member, action.id, others.__contains__)
    assert action_of(alice, made) == action, "it goes on waiting"
    assert alice.make(delayed_actions.undo_by_member, action.id, {right}.__contains__) == 1


@pytest.mark.parametrize("role", [Role.FINANCE, Role.ANALYST])
def test_roles_that_may_not_decide_undo_nothing(alice: Operator, role: Role) -> None:
    made = referral(alice)
    page = ask(alice, made, do="verify")
    other = colleague(alice.service, alice, role)
    refused = other.web.post("/account/undo", page="/settings", action=offered(page))
    assert refused.status_code == 403 and action_of(alice, made) is not None


def test_an_editor_undoes_what_the_owner_asked_for_and_is_named(alice: Operator) -> None:
    made = referral(alice)
    page = ask(alice, made, do="verify")
    editor = colleague(alice.service, alice, Role.EDITOR)
    undone = editor.web.post("/account/undo", page="/settings", action=offered(page))
    assert undone.status_code == 303 and action_of(alice, made) is None
    email = alice.subscriber(made["subject"])["email"]
    log = text_of(alice.web.get("/account/changes").text)
    assert f"undid a decision about the referral of {email} within its minute." in log


@EVERY_KIND
@pytest.mark.parametrize("new_role", [None, Role.ANALYST, Role.OWNER])
def test_it_is_dropped_if_the_member_who_asked_for_it_loses_the_right(
    alice: Operator, case: Case, new_role: Role | None
) -> None:
    made = case.make(alice)
    takes_money = delayed_kinds.BY_NAME[case.kind].right is Right.MONEY
    member = colleague(alice.service, alice, Role.FINANCE if takes_money else Role.EDITOR)
    ask(member, made)
    if new_role is None:
        changed = alice.web.post(f"/team/{member.user_id}/remove", page="/team")
    else:
        changed = alice.web.post(f"/team/{member.user_id}/role", page="/team", role=new_role)
    assert changed.status_code == 303
    pass_minute(alice.service)
    assert action_of(alice, made) is None
    assert case.is_done(alice, made) == (new_role is Role.OWNER)
    if new_role is not Role.OWNER:
        facts = delayed_kinds.BY_NAME[case.kind]
        assert notices(alice) == [f"A {facts.noun} was not {facts.done}"]
        text = text_of(alice.web.get("/notices").text)
        assert "The member who asked for it may not do it any more." in text


@EVERY_KIND
def test_two_tabs_ask_for_one_thing(alice: Operator, case: Case) -> None:
    made = case.make(alice)
    first, second = ask(alice, made), ask(alice, made)
    assert case.says in text_of(second) and offered(second) == offered(first)
    undo(alice, offered(second))
    assert action_of(alice, made) is None


def test_another_tab_that_wants_the_opposite_is_told_to_undo_first(alice: Operator) -> None:
    made = referral(alice)
    ask(alice, made, do="verify")
    text = text_of(ask(alice, made, do="reject"))
    assert "This referral will be verified in less than a minute; undo that first." in text
    pass_minute(alice.service)
    assert alice.subscriber(made["subject"])["referral_status"] == "verified"


@EVERY_KIND
def test_after_the_minute_it_is_too_late(alice: Operator, case: Case) -> None:
    made = case.make(alice)
    page = ask(alice, made)
    pass_minute(alice.service)
    assert "There was nothing left to undo" in undo(alice, offered(page))
    assert case.is_done(alice, made)


def test_nobody_else_can_undo_it(service: Service, alice: Operator) -> None:
    made = referral(alice)
    page = ask(alice, made, do="verify")
    action = action_of(alice, made)
    assert action is not None
    mallory = operator(service, "mallory")
    for action_id in (action.id, offered(page), "", "x"):
        assert "There was nothing left to undo" in undo(mallory, action_id)
    assert action_of(alice, made) == action
    assert "Undo" not in text_of(mallory.web.get("/subscribers").text)


def test_a_partners_referral_shows_it_to_the_owner_and_not_to_the_partner(
    service: Service, alice: Operator
) -> None:
    bob = operator(service, "bob")
    program = offer(alice, referral_pending_duration_enabled=True)
    joined = join(bob, program)
    sent = alice.subscribe("sent@example.org", referrer_code=joined["ref_code"])["uuid"]
    theirs = text_of(bob.web.get(f"/earnings/{joined['uuid']}").text)
    ask(alice, {"path": f"/subscribers/{sent}", "do": "reject"})
    own = text_of(alice.web.get(f"/program/{program['uuid']}").text)
    assert "Will be rejected in less than a minute · Undo for sent@example.org" in own
    assert text_of(bob.web.get(f"/earnings/{joined['uuid']}").text) == theirs
