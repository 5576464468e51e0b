"""Many referrals decided by hand at once: each as if it were decided alone, and each with a result
of its own, so that one that is refused stops no other.

One transaction decides one part of the list. A list of hundreds in one transaction would keep
everyone else waiting for its locks, and on SQLite the whole service; `parts_of` splits it. Whoever
sends a list again after a failure finds what was decided already unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Fault, Invalid, Missing
from honeyguide.kernel.ids import is_id, lowercase_id
from honeyguide.signups import signups
from honeyguide.signups.consequence_writer import find_referral, write_contended
from honeyguide.signups.signups import BegunDecision
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers import referral_decisions, subscribers
from honeyguide.subscribers.referral_states import Status

MOST = 500
DECIDED_STATUSES = (Status.VERIFIED.value, Status.REJECTED.value)
# Decided in one transaction: some dozens of milliseconds of work.
PART = 10
REPEATED = "This subscriber is in the list more than once."


class GroupDecision(NamedTuple):
    """What somebody asks for, checked. The subscribers are as given: UUIDs or email addresses."""

    status: str
    subscribers: list[str]
    note: str | None = None


class DecisionResult(NamedTuple):
    """What became of one line of the list."""

    given: str
    subscriber_id: str | None
    """None if there is no such subscriber."""
    status: str | None = None
    """Of the referral now; None if the decision was refused."""
    fault: Fault | None = None
    """Why it was refused."""


class _NamedSubscriber(NamedTuple):
    id: str
    email_key: str | None
    referrer_id: str | None


_sql = beside(__file__)
_FIND = _sql.query("find", _NamedSubscriber)
_LOCK = _sql.value("lock", str)


def check(status: str | None, given: Sequence[str] | None, note: str | None) -> GroupDecision:
    """What the API or a form sent: `status`, `subscribers` and `reason`."""
    checks.one_of(status, DECIDED_STATUSES, param="status")
    if not given or len(given) > MOST:
        raise Invalid("{field} must have 1 to {most} items.", param="subscribers", most=MOST)
    for each in given:
        checks.text(each, param="subscribers", limit=checks.STRING_LIMIT)
    note = referral_decisions.check_note(note, param="reason")
    return GroupDecision(str(status), list(given), note)


def parts_of(decision: GroupDecision) -> Iterator[GroupDecision]:
    """In the given order. Each is for a transaction of its own."""
    for start in range(0, len(decision.subscribers), PART):
        yield decision._replace(subscribers=decision.subscribers[start : start + PART])


async def decide_many(
    change: Change, decision: GroupDecision, earlier: Sequence[DecisionResult] = ()
) -> list[DecisionResult]:
    """Decides these referrals and returns what became of each, in the given order. `earlier` are
    the results of the parts before this one."""
    seen = {each.subscriber_id for each in earlier}
    named = await _lock(change, decision.subscribers)
    begun, results = list[BegunDecision](), list[DecisionResult]()
    for given in decision.subscribers:
        subscriber_id = named.get(_key(given))
        # Facts that a change loads once must not outlive a decision: it alters the counts.
        own = Change(change.tx, change.site, change.tenant, change.actor, change.now_ms)
        try:
            if subscriber_id is None:
                raise Missing(subscribers.UNKNOWN)
            if subscriber_id in seen:
                raise Invalid(REPEATED, code="repeated")
            seen.add(subscriber_id)
            decided = await signups.begin_decision(
                own, subscriber_id, decision.status, note=decision.note
            )
        except (Invalid, Missing) as fault:
            results.append(DecisionResult(given, subscriber_id, fault=fault))
        else:
            begun.append(decided)
            status = decided.subscriber.after.referral_status
            results.append(DecisionResult(given, subscriber_id, status))
    await _end(begun)
    return results


async def _lock(change: Change, given: Sequence[str]) -> dict[str, str]:
    """Locks those in the list and their referrers, in the order of `subscribers.lock` and before
    anything is written, and returns the ids of those in the list."""
    keys = [_key(each) for each in given]
    ids, email_keys = [key for key in keys if is_id(key)], [key for key in keys if "@" in key]
    found = await change.all(_FIND, ids=ids, email_keys=email_keys)
    locked = {each.id for each in found} | {each.referrer_id for each in found if each.referrer_id}
    await change.lock(_LOCK, ids=sorted(locked))
    return {key: each.id for each in found for key in (each.id, each.email_key) if key}


def _key(given: str) -> str:
    """The id or the key of the email address. Empty if it is neither."""
    if "@" not in given:
        written = lowercase_id(given)
        return written if is_id(written) else ""
    try:
        return EmailAddress.parse(given).key
    except Invalid:
        return ""


async def _end(begun: list[BegunDecision]) -> None:
    """Charges come last, one program after the other: everyone locks budgets in this order."""
    with_program = []
    for each in begun:
        subscriber = each.subscriber.after
        if subscriber.partner_campaign_id is not None:
            referral = await each.change.fact(find_referral, subscriber.id)
            if referral is not None:
                order = (referral.program_id, referral.partner_campaign_id)
                with_program.append((order, each))
    for _, each in sorted(with_program, key=lambda pair: pair[0]):
        await write_contended(*each)
