"""What waits a minute on the dashboard, so that it can be undone. One row for each kind says what
is done, to what, and what must not change meanwhile. The rules are those of the domain functions,
which the API calls at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from honeyguide.accounts.permissions import Right
from honeyguide.rewards import earned_rewards, fulfillment
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.screening import moves, team_acts, trait_groups
from honeyguide.screening.shared_traits import TraitGroup
from honeyguide.signups import first_looks, signups
from honeyguide.signups.first_looks import FirstLook
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import notes, saved_filters, subscribers
from honeyguide.subscribers.notes import SubscriberNote
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.saved_filters import SavedFilter
from honeyguide.subscribers.subscribers import Subscriber

Arguments = Mapping[str, Any]


class DelayedKind(NamedTuple):
    name: str
    noun: str
    done: str
    """As in "1 referral will be verified"."""
    right: Right
    """What a member needs to ask for it, until it is done, and to undo it, whoever asked."""
    undone: str
    """What the change log calls that."""
    unknown: str
    """What is said of a subject that is not there."""
    page: str
    """Where the operator finds such subjects."""
    find: Callable[[Reading, Sequence[str]], Awaitable[Mapping[str, Any]]]
    """The subjects by id."""
    get_locked: Callable[[Change, str], Awaitable[Any]]
    """The subject, which nobody changes until the transaction ends. None if nothing is left to do
    because it is gone; raises `Missing` where that is a problem."""
    check: Callable[[Any], object]
    """Raises why it cannot be done to this subject."""
    state: Callable[[Any], tuple[object, ...]]
    """What of the subject must be the same when it is done. Nothing personal: it is stored."""
    apply: Callable[[Change, Any, Arguments], Awaitable[object]]


BY_NAME: dict[str, DelayedKind] = {}


def _declare(name: str, **facts: Any) -> DelayedKind:
    kind = BY_NAME[name] = DelayedKind(name, **facts)
    return kind


# -- referrals


def _referral(subscriber: Subscriber) -> tuple[object, ...]:
    return (
        subscriber.referral_status,
        subscriber.referral_reason,
        subscriber.referrer_code,
        subscriber.decided_ms,
    )


def _declare_decision(name: str, status: Status) -> DelayedKind:
    async def decide(change: Change, subscriber: Subscriber, arguments: Arguments) -> object:
        await first_looks.check_sides(change, [subscriber.id])
        return await signups.decide(change, subscriber.id, status, note=arguments.get("note"))

    return _declare(
        name,
        noun="referral",
        done=status.value,
        right=Right.SUBSCRIBERS,
        undone="referral.decision_undone",
        unknown=subscribers.UNKNOWN,
        page="/review",
        find=team_acts.find_many,
        get_locked=team_acts.get_locked,
        check=partial(moves.check_decision, new_status=status),
        state=_referral,
        apply=decide,
    )


VERIFY = _declare_decision("verify", Status.VERIFIED)
REJECT = _declare_decision("reject", Status.REJECTED)


# -- groups of referrals over a whole program


def _seen(arguments: Arguments, now: int) -> int:
    """How many there were when somebody pressed the button, of those who are there now."""
    seen = arguments.get("seen") or ""
    return min(now, int(seen)) if seen.isdecimal() else now


async def _approve_group(change: Change, group: TraitGroup, arguments: Arguments) -> None:
    await first_looks.check_side_of_group(change, group.id)
    await trait_groups.approve(change, group, people=_seen(arguments, group.people))


APPROVE_GROUP = _declare(
    "approve_group",
    noun="group",
    done="approved",
    right=Right.SUBSCRIBERS,
    undone="group.approval_undone",
    unknown=trait_groups.UNKNOWN,
    page="/review",
    find=trait_groups.of_ids,
    get_locked=trait_groups.get_locked,
    check=trait_groups.check_open,
    state=lambda group: (group.approved_people,),
    apply=_approve_group,
)


# -- first looks at partners


async def _approve_readers(change: Change, look: FirstLook, arguments: Arguments) -> None:
    await first_looks.check_side(change, look.id)
    await first_looks.approve(change, look, met=_seen(arguments, look.met))


async def _refuse_readers(change: Change, look: FirstLook, arguments: Arguments) -> None:
    await first_looks.check_side(change, look.id)
    await first_looks.refuse(change, look)


_declare_for_look = partial(
    _declare,
    noun="partner",
    undone="first_look.answer_undone",
    unknown=first_looks.UNKNOWN,
    page="/review/looks",
    find=first_looks.find_many,
    get_locked=first_looks.get_locked,
    check=first_looks.check_asked,
    state=lambda look: (look.asked_ms, look.looks),
)
APPROVE_READERS = _declare_for_look(
    "approve_readers", done="marked as looking right", right=Right.PARTNERS, apply=_approve_readers
)
REFUSE_READERS = _declare_for_look(
    "refuse_readers", done="refused", right=Right.MONEY, apply=_refuse_readers
)


# -- earned rewards


async def _find_earned(at: Reading, ids: Sequence[str]) -> dict[str, EarnedReward]:
    return {each: await earned_rewards.get(at, each) for each in ids}


def _earned(earned: EarnedReward) -> tuple[object, ...]:
    return (earned.status,)


async def _approve(change: Change, earned: EarnedReward, arguments: Arguments) -> object:
    return await earned_rewards.approve(change, earned.id)


async def _redeem(change: Change, earned: EarnedReward, arguments: Arguments) -> object:
    return await earned_rewards.redeem(change, earned.id)


_declare_for_reward = partial(
    _declare,
    noun="reward",
    right=Right.REWARDS,
    undone="earned_reward.decision_undone",
    unknown=earned_rewards.UNKNOWN,
    page="/rewards",
    find=_find_earned,
    get_locked=earned_rewards.get_locked,
    state=_earned,
)
APPROVE = _declare_for_reward(
    "approve", done="approved", check=earned_rewards.check_approvable, apply=_approve
)
REDEEM = _declare_for_reward(
    "redeem", done="marked as redeemed", check=earned_rewards.check_redeemable, apply=_redeem
)


async def _decline(change: Change, earned: EarnedReward, arguments: Arguments) -> object:
    return await fulfillment.decline(change, earned.id, arguments["reason"])


DECLINE = _declare_for_reward(
    "decline",
    noun="claim",
    done="declined",
    check=fulfillment.check_declinable,
    state=lambda earned: (earned.status, earned.claimed_ms),
    apply=_decline,
)


# -- notes and saved filters, which are gone or as they were


async def _find_notes(at: Reading, ids: Sequence[str]) -> dict[str, SubscriberNote]:
    found = [await notes.find(at, each) for each in ids]
    return {each.id: each for each in found if each is not None}


async def _get_note(change: Change, note_id: str) -> SubscriberNote | None:
    return await notes.find(change, note_id)


async def _delete_note(change: Change, note: SubscriberNote, arguments: Arguments) -> None:
    await notes.remove(change, note.subscriber_id, note.id)


async def _find_filters(at: Reading, ids: Sequence[str]) -> dict[str, SavedFilter]:
    return {each.id: each for each in await saved_filters.of_campaign(at) if each.id in ids}


async def _get_filter(change: Change, filter_id: str) -> SavedFilter | None:
    return (await _find_filters(change, [filter_id])).get(filter_id)


async def _delete_filter(change: Change, saved: SavedFilter, arguments: Arguments) -> None:
    await saved_filters.delete(change, saved.id)


def _anything(subject: object) -> None:
    """It can always be deleted."""


DELETE_NOTE = _declare(
    "delete_note",
    noun="note",
    done="deleted",
    right=Right.SUBSCRIBERS,
    undone="note.deletion_undone",
    unknown=notes.UNKNOWN,
    page="/subscribers",
    find=_find_notes,
    get_locked=_get_note,
    check=_anything,
    state=lambda note: (note.written_ms,),
    apply=_delete_note,
)
DELETE_FILTER = _declare(
    "delete_filter",
    noun="saved filter",
    done="deleted",
    right=Right.SUBSCRIBERS,
    undone="saved_filter.deletion_undone",
    unknown=saved_filters.UNKNOWN,
    page="/subscribers",
    find=_find_filters,
    get_locked=_get_filter,
    check=_anything,
    state=lambda saved: (saved.saved_ms,),
    apply=_delete_filter,
)
