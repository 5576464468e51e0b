"""What is done with a contact, by what the platform knows of them: one table for all platforms."""

import itertools
from typing import Any

import pytest

from honeyguide.integrations import policy
from honeyguide.integrations.platform import ContactStatus, WriteResult
from honeyguide.integrations.policy import Add, Remote, Update, decide, unseen
from honeyguide.integrations.reports import ChangeKind
from tests.support.platforms.stand_in import contact

LEFT, ABSENT, WRITTEN = WriteResult.LEFT, WriteResult.ABSENT, WriteResult.WRITTEN
JOINED = ChangeKind.JOINED
GONE = (ChangeKind.LEFT, ChangeKind.BOUNCED, ChangeKind.COMPLAINED, ChangeKind.DELETED)
NEW = "reader1@example.org"


def there(kind: ChangeKind | None = JOINED, **more: Any) -> Remote:
    return Remote(**{"id": "7", "email": "old@example.org", "kind": kind, **more})


WAITS = there(None)
ELSEWHERE = there(None, is_on_list=False)
ACTIVE: dict[str, Any] = {}
KNOWN = {"may_add": False, "remote_id": "7"}
NOT_OURS = {"may_add": False}
MOVED = {"old_email": "old@example.org"}
BACK = {**KNOWN, "may_return": True}
OUT = {"may_add": False, "status": ContactStatus.UNSUBSCRIBED}
ERASED = {**KNOWN, "status": ContactStatus.ERASED, "email": ""}

CASES: dict[str, tuple[dict[str, Any], Remote | None, policy.Decision]] = {
    "nobody there, may be added": (ACTIVE, None, Add()),
    "nobody there, may not be added": (NOT_OURS, None, ABSENT),
    "nobody there under the old address": (MOVED, None, ABSENT),
    "the ID is gone, whatever may be added": ({"remote_id": "7"}, None, ABSENT),
    "nobody there who may return": (BACK, None, ABSENT),
    "nobody there, unsubscribed here": ({**OUT, "may_add": True}, None, ABSENT),
    "nobody there, erased here": ({**ERASED, "may_add": True}, None, ABSENT),
    "there already": (ACTIVE, there(), Update()),
    "there already, may not be added": (KNOWN, there(), Update()),
    "confirmed there": (KNOWN, there(ChangeKind.CONFIRMED), Update()),
    "not confirmed there yet": (ACTIVE, WAITS, Update()),
    "a new address": (MOVED, there(), Update(email=NEW)),
    "a new address, by ID": ({**KNOWN, **MOVED}, there(), Update(email=NEW)),
    "a new address that is there already": (MOVED, there(email=NEW), Update()),
    "another address there, which nobody changed here": (KNOWN, there(), Update()),
    "a new address, unsubscribed here": ({**OUT, **MOVED}, there(), Update(unsubscribes=True)),
    "a new address, erased here": ({**ERASED, **MOVED}, there(), Update()),
    "for other purposes, may be added": (ACTIVE, ELSEWHERE, Update(joins_list=True)),
    "for other purposes, may not be added": (NOT_OURS, ELSEWHERE, ABSENT),
    "for other purposes, under the old address": (MOVED, ELSEWHERE, ABSENT),
    "taken off the list there": (KNOWN, ELSEWHERE, ABSENT),
    "for other purposes, unsubscribed here": (OUT, ELSEWHERE, ABSENT),
    "for other purposes, erased here": (ERASED, ELSEWHERE, Update()),
    "unsubscribed here": (OUT, there(), Update(unsubscribes=True)),
    "unsubscribed here, not confirmed there": (OUT, WAITS, Update(unsubscribes=True)),
    "erased here": (ERASED, there(), Update()),
    "returns although they never left": (BACK, there(), Update()),
    "unseen": (KNOWN, unseen("7"), Update()),
    "unseen, may be added": (ACTIVE, unseen(NEW), Update()),
    "unseen, with a new address": (MOVED, unseen("old@example.org"), Update(email=NEW)),
    "unseen, unsubscribed here": (OUT, unseen("7"), Update(unsubscribes=True)),
    "unseen, erased here": (ERASED, unseen("7"), Update()),
    "unseen, may return": (BACK, unseen("7"), Update()),
}
OF_GONE: dict[str, tuple[dict[str, Any], bool, policy.Decision]] = {
    "active here": (ACTIVE, False, LEFT),
    "active here, and could return": (KNOWN, True, LEFT),
    "with a new address": (MOVED, True, LEFT),
    "may return": (BACK, True, Update(returns=True)),
    "may return with a new address": ({**BACK, **MOVED}, True, Update(email=NEW, returns=True)),
    "may return, but not there": (BACK, False, LEFT),
    "unsubscribed here": (OUT, True, Update()),
    "erased here": (ERASED, True, Update()),
}


@pytest.mark.parametrize(("here", "remote", "decision"), CASES.values(), ids=CASES)
def test_what_is_done(here: dict[str, Any], remote: Remote | None, decision: Any) -> None:
    assert decide(contact(1, **here), remote) == decision


@pytest.mark.parametrize("kind", GONE)
@pytest.mark.parametrize("is_on_list", [True, False])
@pytest.mark.parametrize(("here", "can_return", "decision"), OF_GONE.values(), ids=OF_GONE)
def test_what_is_done_with_somebody_who_is_gone_there(
    kind: ChangeKind, is_on_list: bool, here: dict[str, Any], can_return: bool, decision: Any
) -> None:
    remote = there(kind, is_on_list=is_on_list, can_return=can_return)
    assert decide(contact(1, **here), remote) == decision


def test_nobody_becomes_active_who_left_and_only_new_ones_are_added() -> None:
    """Every contact with every state there."""
    flags = (True, False)
    contacts = [
        contact(1, status=status, may_add=may_add, may_return=back, remote_id=known, old_email=old)
        for status, may_add, back, known, old in itertools.product(
            ContactStatus, flags, flags, (None, "7"), (None, "old@example.org")
        )
    ]
    remotes = [
        None,
        unseen("7"),
        *(
            there(kind, is_on_list=on_list, can_return=can)
            for kind, on_list, can in itertools.product((None, *ChangeKind), flags, flags)
        ),
    ]
    for each, remote in itertools.product(contacts, remotes):
        decision = decide(each, remote)
        is_active = each.status == ContactStatus.ACTIVE
        is_gone = remote is not None and remote.kind in GONE
        match decision:
            case Add():
                assert remote is None and policy.may_be_added(each)
            case Update(returns=True):
                assert is_gone and is_active and each.may_return
            case Update(joins_list=True):
                assert not is_gone and policy.may_be_added(each)
            case Update(unsubscribes=True):
                assert not is_gone and each.status == ContactStatus.UNSUBSCRIBED
            case Update(email=str()):
                assert is_active and not is_gone
            case WriteResult.LEFT:
                assert is_gone and is_active
            case WriteResult.ABSENT:
                assert remote is None or not remote.is_on_list
            case other:
                assert other == Update() and remote is not None


@pytest.mark.parametrize("kind", [None, *ChangeKind])
@pytest.mark.parametrize("status", ContactStatus)
def test_somebody_who_should_be_active_may_have_left(
    kind: ChangeKind | None, status: ContactStatus
) -> None:
    is_left = kind in GONE and status == ContactStatus.ACTIVE
    result = policy.after(contact(1, status=status), there(kind))
    assert result == (LEFT if is_left else WRITTEN)


def test_a_change_is_put_into_a_body() -> None:
    names: dict[str, Any] = {"email": "address", "unsubscribed": {"status": "out"}}
    assert Update().body(**names) == {}
    assert Update(email=NEW).body(**names) == {"address": NEW}
    assert Update(unsubscribes=True).body(**names) == {"status": "out"}


def test_an_answer_that_says_nothing_is_as_asked() -> None:
    left = there(ChangeKind.LEFT)
    back = policy.as_asked(left, Update(returns=True))
    joined = policy.as_asked(ELSEWHERE, Update(joins_list=True))
    assert (back.kind, joined.kind, joined.is_on_list) == (JOINED, JOINED, True)
    assert policy.as_asked(left, Update()) == left
