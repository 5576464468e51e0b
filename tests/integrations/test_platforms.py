"""What every platform has to stand, each against its strict stand-in: wrong keys, limits, broken
servers, lost answers, fields and lists that were deleted, and people who left.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from honeyguide.integrations.about import Hooks
from honeyguide.integrations.platform import (
    Contact,
    ContactStatus,
    Platform,
    PlatformAccess,
    WriteResult,
)
from honeyguide.integrations.problems import (
    AudienceGone,
    FieldsGone,
    ForgedHook,
    PlatformError,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms.case import Fault, PlatformCase
from tests.support.platforms.cases import CASES
from tests.support.platforms.stand_in import (
    contact,
    drop,
    garbage,
    lose_answer,
    pass_on,
    slow,
    status,
)

NOW_S = 1_800_000_000
WRITTEN, LATER, REFUSED = WriteResult.WRITTEN, WriteResult.LATER, WriteResult.REFUSED
LEFT, ABSENT = WriteResult.LEFT, WriteResult.ABSENT
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
WITH_LISTS = {key: case for key, case in CASES.items() if case.active is not None}
EACH_LIST = pytest.mark.parametrize("case", WITH_LISTS.values(), ids=WITH_LISTS)

FAULTS: tuple[Fault, ...] = (
    (status(429), TryLater),
    (lose_answer, TryLater),
    (status(405), Unexpected),
    (garbage, Unexpected),
)
# All requests are made in one place, so it is enough if one of them meets these.
USUAL_FAULTS: tuple[Fault, ...] = (
    (status(502, "<html>Bad gateway</html>"), TryLater),
    (drop, TryLater),
    (status(401), WrongCredentials),
)


async def written(platform: Platform, access: PlatformAccess, contacts: Sequence[Contact]) -> Any:
    """The results in the order of the contacts, or the error. What went wrong is a sentence."""
    try:
        outcomes = await platform.write_many(access, contacts)
    except PlatformError as error:
        return _checked(error)
    for each in outcomes:
        assert each.result in (WRITTEN, ABSENT, LEFT) or _checked(each)
    by_id = {each.subscriber_id: each.result for each in outcomes}
    return [by_id[each.subscriber_id] for each in contacts]


def _checked(outcome: Any) -> Any:
    assert re.fullmatch(r"[A-Za-z][^@]+\.", outcome.reason)
    return outcome


@EACH
async def test_a_wrong_key_is_wrong_credentials(case: PlatformCase) -> None:
    async with case.open() as (server, platform, access):
        await platform.check(access)
        assert len(await platform.audiences(access)) >= 1
        case.revoke(server)
        with pytest.raises(WrongCredentials):
            await platform.check(access)
        assert isinstance(await written(platform, access, [contact()]), WrongCredentials)


async def fails_once(
    opened: tuple[Any, Platform, PlatformAccess], fault: Fault, place: int, *who: Contact
) -> None:
    """The request at this place fails; what was written stays written, and the next try works."""
    server, platform, access = opened
    answer, error = fault
    # The HTTP client sends a GET that was dropped once more.
    server.fail(*[pass_on] * place, *[answer] * (2 if answer in (drop, lose_answer) else 1))
    result = await written(platform, access, who)
    server.faults.clear()
    if isinstance(result, PlatformError):
        assert isinstance(result, error | Unexpected), result
    else:
        assert error in (TryLater, Unexpected) and set(result) <= {WRITTEN, LATER}, result
    assert await written(platform, access, who) == [WRITTEN] * len(who)


@EACH
async def test_what_goes_wrong_is_said_and_the_next_try_works(case: PlatformCase) -> None:
    """Each fault, at each request that a write makes; and the limit, within a batch."""
    async with case.open() as opened:
        server, platform, access = opened
        assert await written(platform, access, [contact(1)]) == [WRITTEN]
        numbers = itertools.count(2)
        for place in range(len(server.seen)):
            usual = USUAL_FAULTS if place == 0 else ()
            for fault in (*FAULTS, *case.faults, *usual):
                await fails_once(opened, fault, place, contact(next(numbers)))
        for place in range(4):
            both = contact(next(numbers)), contact(next(numbers))
            await fails_once(opened, FAULTS[0], place, *both)


@EACH
async def test_waits_are_as_long_as_asked_for(case: PlatformCase) -> None:
    async with case.open() as (server, platform, access):
        for fault, after_s in (
            (status(429), None),
            (status(429, retry_after="7"), 7),
            (status(503, retry_after="60"), 60),
        ):
            server.fail(fault)
            with pytest.raises(TryLater) as raised:
                await platform.check(access)
            assert raised.value.after_s == after_s
        server.fail(slow(0.02, pass_on))
        await platform.check(access)


@EACH
async def test_one_bad_address_costs_nobody_else(case: PlatformCase) -> None:
    async with case.open() as (server, platform, access):
        server.refuses = {"fake@example.org": {"result": "refused", "reason": "A typo."}}
        three = [contact(1), contact(2, email="fake@example.org"), contact(3)]
        assert await written(platform, access, three) == [WRITTEN, REFUSED, WRITTEN]


@EACH_LIST
async def test_writing_never_makes_anybody_active_again(case: PlatformCase) -> None:
    async with case.open() as (server, platform, access):
        gone = [leave(server, f"reader{n}@example.org") for n, leave in enumerate(case.left, 1)]
        before = [case.state(person) for person in gone]
        known = case.active(server, "reader20@example.org")  # type: ignore[misc]
        contacts = [
            *(contact(number) for number in range(1, len(gone) + 1)),
            contact(20),
            contact(21, name=None),
            contact(22, may_add=False),
            contact(23, may_add=False, remote_id=case.unknown_id),
        ]
        for _ in range(2):
            assert await written(platform, access, contacts) == [
                *[LEFT] * len(gone),
                WRITTEN,
                WRITTEN,
                ABSENT,
                ABSENT,
            ]
            assert [case.state(person) for person in gone] == before
            assert case.find(server, "reader21@example.org") is not None
            assert case.find(server, "reader22@example.org") is None
            if case.code:
                assert case.fields(known)[case.code] == "code20"
        [outcome] = await platform.write_many(access, [contact(20)])
        assert outcome.remote_id == case.id(known)


@EACH_LIST
async def test_nobody_is_added_before_their_new_address_is_looked_up(case: PlatformCase) -> None:
    """Nor is somebody whose ID is gone: they were deleted there."""
    async with case.open() as (server, platform, access):
        moved = contact(1, old_email="before@example.org")
        deleted = contact(2, remote_id=case.unknown_id)
        assert await written(platform, access, [moved, deleted]) == [ABSENT, ABSENT]
        for number in (1, 2):
            assert case.find(server, f"reader{number}@example.org") is None
        left = case.left[0](server, "reader1@example.org")
        assert await written(platform, access, [contact(1)]) == [LEFT]
        assert case.find(server, "reader1@example.org") is left


@EACH_LIST
async def test_nothing_is_written_about_those_who_left(case: PlatformCase) -> None:
    """Except where nobody is looked up, because the update itself tells who left."""
    async with case.open() as (server, platform, access):
        gone = [leave(server, f"reader{n}@example.org") for n, leave in enumerate(case.left, 1)]
        before = [case.everything(person) for person in gone]
        contacts = [contact(number, may_add=False) for number in range(1, len(gone) + 1)]
        outcomes = await platform.write_many(access, contacts)
        assert [each.result for each in outcomes] == [LEFT] * len(gone)
        assert [each.remote_id for each in outcomes] == [case.id(person) for person in gone]
        if platform.about.key not in ("beehiiv", "mailchimp"):
            assert [case.everything(person) for person in gone] == before


@EACH_LIST
async def test_who_bounced_complained_or_was_blocked_does_not_return(case: PlatformCase) -> None:
    """Only those come back whom we unsubscribed ourselves. Ghost has no other way to leave."""
    async with case.open() as (server, platform, access):
        gone = [leave(server, f"reader{n}@example.org") for n, leave in enumerate(case.left, 1)]
        before = [case.state(person) for person in gone]
        back = {"may_return": True, "may_add": False}
        contacts = [contact(number, **back) for number in range(1, len(gone) + 1)]
        await written(platform, access, contacts)
        for person, state in zip(gone, before, strict=True):
            if state != case.unsubscribed and platform.about.key != "ghost":
                assert case.state(person) == state


@EACH_LIST
async def test_unsubscribed_erased_and_renamed(case: PlatformCase) -> None:
    async with case.open() as (server, platform, access):
        one, renamed, erased, taken = (
            case.active(server, f"{name}@example.org")  # type: ignore[misc]
            for name in ("reader1", "old+x", "reader3", "reader4")
        )
        case.active(server, "taken@example.org")  # type: ignore[misc]
        stays = case.state(erased)
        if case.code:
            case.fields(erased).update({case.code: "code3", "Town": "Bonn"})
        gone = {"status": ContactStatus.UNSUBSCRIBED, "may_add": False}
        contacts = [
            contact(1, **gone),
            contact(2, old_email="old+x@example.org"),
            contact(
                3,
                email="",
                status=ContactStatus.ERASED,
                may_add=False,
                remote_id=case.id(erased),
                values={},
            ),
            contact(
                4,
                email="taken@example.org",
                old_email="reader4@example.org",
                remote_id=case.id(taken),
            ),
            contact(5, **gone),
            contact(6, email="", status=ContactStatus.ERASED, may_add=False, values={}),
        ]
        assert await written(platform, access, contacts) == [
            WRITTEN,
            WRITTEN,
            WRITTEN,
            REFUSED,
            ABSENT,
            ABSENT,
        ]
        assert case.state(one) == case.unsubscribed
        assert case.find(server, "reader2@example.org") is renamed
        assert case.find(server, "reader4@example.org") is taken
        assert case.find(server, "reader3@example.org") is erased
        assert case.state(erased) == stays
        if case.code:
            assert case.fields(erased).get(case.code, "") == ""
            assert case.fields(erased)["Town"] == "Bonn"


@EACH
async def test_a_deleted_field_or_list_is_named(case: PlatformCase) -> None:
    if case.lose_field is not None:
        async with case.open() as (server, platform, access):
            case.lose_field(server)
            assert isinstance(await written(platform, access, [contact()]), FieldsGone)
            assert await platform.ensure_fields(access) == 1
            assert await platform.ensure_fields(access) == 0
            assert await written(platform, access, [contact()]) == [WRITTEN]
    if case.lose_audience is not None:
        async with case.open() as (server, platform, access):
            known = case.id(case.active(server, "reader2@example.org"))  # type: ignore[misc]
            case.lose_audience(server)
            for one in (contact(), contact(2, may_add=False, remote_id=known)):
                assert isinstance(await written(platform, access, [one]), AudienceGone)
            with pytest.raises(AudienceGone):
                await platform.read_changes(access, since_ms=None, token=None)


@EACH
async def test_a_webhook_that_was_forged_or_makes_no_sense_is_refused(case: PlatformCase) -> None:
    async with case.open() as (server, platform, access):
        for hook in (
            IncomingHook(headers={}, body=b"{}"),
            IncomingHook(headers={}, body=b"", query={"hook_key": ""}),
        ):
            with pytest.raises(ForgedHook):
                platform.verify_hook(access, hook, now_s=NOW_S)
        if platform.about.hooks == Hooks.NONE:
            return
        with pytest.raises(Unexpected):
            await platform.understand_hook(access, IncomingHook(headers={}, body=b"\xff"))
        if platform.about.hooks == Hooks.AUTOMATIC:
            kept = await platform.add_hook(access, "https://refer.example.org/hooks/1")
            credentials = {**access.credentials, **kept}
            connected = msgspec.structs.replace(access, credentials=credentials)
            assert server.webhooks
            await platform.remove_hook(connected)
            await platform.remove_hook(connected)  # it may be gone already
            assert not server.webhooks


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every single value of a contact there, by where it is."""
    if isinstance(value, dict):
        return {
            at: each
            for name, inner in value.items()
            for at, each in _leaves(inner, f"{path}.{name}").items()
        }
    return {path: value}


def _theirs(case: PlatformCase, person: Any) -> dict[str, Any]:
    """What we have no business with: everything but our fields, labels, and times of changes."""
    ours = re.compile(r"\.(r_?h_*.*|labels|.*updated_?at|modifiedAt|changed)", re.IGNORECASE)
    leaves = _leaves(case.everything(person))
    return {path: each for path, each in leaves.items() if not ours.fullmatch(_last(path))}


def _last(path: str) -> str:
    return path[path.rindex(".") :]


@EACH_LIST
@pytest.mark.parametrize("name", [None, "Somebody Else"])
async def test_what_is_not_ours_stays_as_it_is_there(case: PlatformCase, name: str | None) -> None:
    """Their name, other fields, and other lists, whatever is written; and a new name is not theirs
    to lose."""
    async with case.open() as (server, platform, access):
        people = [
            case.also_elsewhere(server, f"reader{number}@example.org") for number in range(1, 5)
        ]
        before = [_theirs(case, each) for each in people]
        known = case.id(people[2])
        contacts = [
            contact(1, name=name),
            contact(2, name=name, may_add=False),
            contact(3, name=name, may_add=False, remote_id=known),
            contact(4, name=name, status=ContactStatus.UNSUBSCRIBED, may_add=False),
        ]
        for _ in range(2):
            assert await written(platform, access, contacts) == [WRITTEN] * 4
        after = [_theirs(case, each) for each in people]
        assert after[:3] == before[:3]
        changed = {at for at in after[3] if after[3][at] != before[3].get(at)}
        assert changed == set(case.left_at), changed
        assert set(after[3]) == set(before[3])
        for at, left in case.left_at.items():
            assert after[3][at] == left
