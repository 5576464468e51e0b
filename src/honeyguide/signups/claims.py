"""Through whom somebody came who has not confirmed yet. Each of their signups with another code is
a claim. The subscriber shows the newest, and the one whose button they press decides.

A claim that is not shown is put aside. It has a row of its own in `subscriber`, which is erased
from the beginning: so its referral is in no list of subscribers and counts for nobody, and its
partner and the program's owner see it like that of somebody who was erased.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_code, new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails
from honeyguide.mail.email_kinds import CONFIRM
from honeyguide.screening import evidence, moves, rules
from honeyguide.screening.moves import Judge
from honeyguide.signups import consequences
from honeyguide.signups.consequence_writer import ChangedSubscriber, write
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import names, referral_decisions, subscribers
from honeyguide.subscribers.reader_links import NOBODY
from honeyguide.subscribers.reasons import DEADLINE_DAYS
from honeyguide.subscribers.subscribers import Subscriber

# The job.
ENDING = "reject unconfirmed referrals"
CONFIRMED = "Cancelled: they confirmed or left."


class HiddenClaim(NamedTuple):
    """One that was put aside."""

    id: str
    referrer_code: str | None
    referrer_id: str | None
    referral_status: str
    referral_reason: str | None
    received_ms: int
    name: str | None
    ip_address: str | None
    user_agent: str | None
    utm_source: str | None
    utm_campaign: str | None
    claimed_code: str | None
    referred_by: str | None
    """The partner or the subscriber whose code it is."""


class DueClaim(NamedTuple):
    tenant: Tenant
    id: str
    subscriber_id: str


class _Recommender(NamedTuple):
    partner: str | None
    friend: str | None


_sql = beside(__file__)
_INSERT_ROW = _sql.command("insert_row")
_INSERT = _sql.command("insert")
_UNREFER = _sql.command("unrefer")
_TAKE_BACK = _sql.command("take_back")
_REFER_BACK = _sql.command("refer_back")
_MOVES = tuple(_sql.command(name) for name in ("move_referral", "move_evidence", "move_decisions"))
_DELETE = _sql.command("delete")
_DELETE_ROW = _sql.command("delete_row")
_LOCK_ROW = _sql.value("lock_row", str)
_OF_SUBSCRIBER = _sql.query("of_subscriber", HiddenClaim)
_DUE = _sql.query(
    "due",
    lambda account_id, campaign_id, id, subscriber_id: DueClaim(
        Tenant(account_id, campaign_id), id, subscriber_id
    ),
)
_SET_DECIDED = _sql.command("set_decided")
_FORGET = _sql.command("forget")
_RECOMMENDER = _sql.query("recommender", _Recommender)


def is_waiting(subscriber: Subscriber) -> bool:
    """Whether the button that they press decides through whom they came."""
    return bool(subscriber.must_confirm) and subscriber.status == "active"


async def of_subscriber(at: Reading, subscriber_id: str) -> list[HiddenClaim]:
    """Those that are not shown, the newest first."""
    return await at.all(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def lock_referrers(change: Change, *ids: str | None) -> None:
    """Of the claim that is shown and of the one that comes instead, whose counts both change. The
    youngest first, as everybody locks subscribers."""
    for each in sorted({each for each in ids if each}, reverse=True):
        await subscribers.lock(change, each)


async def put_aside(change: Change, subscriber: Subscriber) -> None:
    """The one that is shown. The caller has locked the subscriber, and shows another."""
    claim_id = new_id()
    due_ms = subscriber.received_ms + DEADLINE_DAYS * DAY_MS
    await change.run(_INSERT_ROW, claim_id=claim_id, ref_code=new_code(), id=subscriber.id)
    await change.run(_INSERT, claim_id=claim_id, id=subscriber.id, due_ms=due_ms)
    await _move(change, subscriber.id, claim_id)
    await change.run(_UNREFER, id=subscriber.id)


async def bring_back(
    change: Change, subscriber: Subscriber, code: str | None, *, only_pending: bool = False
) -> Subscriber | None:
    """Shows the newest claim with this code instead of the one that is shown. None if there is
    none. The caller has locked the subscriber."""
    found = [
        each
        for each in await of_subscriber(change, subscriber.id)
        if each.referrer_code == code and (each.referral_status == "pending" or not only_pending)
    ]
    # A partner who is removed at this moment ends it first.
    if not found or not await change.lock(_LOCK_ROW, claim_id=found[0].id):
        return None
    claim_id = found[0].id
    await lock_referrers(change, subscriber.referrer_id, found[0].referrer_id)
    await put_aside(change, subscriber)
    await _move(change, claim_id, subscriber.id)
    await change.run(_TAKE_BACK, claim_id=claim_id, id=subscriber.id)
    await change.run(_REFER_BACK, claim_id=claim_id, id=subscriber.id)
    await change.run(_DELETE, claim_id=claim_id)
    await change.run(_DELETE_ROW, claim_id=claim_id)
    return await subscribers.get(change, subscriber.id)


async def _move(change: Change, old_id: str, new_id: str) -> None:
    for move in _MOVES:
        await change.run(move, old_id=old_id, new_id=new_id)


async def choose(change: Change, subscriber: Subscriber, via: str) -> Subscriber:
    """Shows the claim whose button was pressed. `via` is what its link says."""
    code = None if via == NOBODY else via
    if not via or code == subscriber.referrer_code:
        return subscriber
    subscriber = await subscribers.get_locked(change, subscriber.id)
    if not is_waiting(subscriber):
        return subscriber
    return await bring_back(change, subscriber, code) or subscriber


async def end_others(change: Change, subscriber_id: str) -> None:
    """They confirmed or left: what is not shown ends, and its emails do not leave any more."""
    await emails.cancel_unsent(change, subscriber_id, CONFIRMED, kind=CONFIRM)
    others = await of_subscriber(change, subscriber_id)
    for each in sorted(others):
        await end(change, each.id, rules.on_other_code)
    if others:
        await change.run(_FORGET, subscriber_id=subscriber_id)


async def end(change: Change, claim_id: str, judge: Judge) -> None:
    """Nobody is told. Nothing happens if it was decided before."""
    changed = await moves.judge_aside(change, claim_id, judge)
    if changed is not None:
        await write(change, ChangedSubscriber(*changed), consequences.of_erasure(changed.before))
    await change.run(_SET_DECIDED, claim_id=claim_id)


async def due(tx: Tx, *, most: int) -> list[DueClaim]:
    """Claims of all accounts that nobody confirmed in time."""
    return await tx.all(_DUE, most=most)


async def end_due(change: Change, claim: DueClaim) -> None:
    # Locked, so that nobody brings it back meanwhile.
    await subscribers.lock(change, claim.subscriber_id)
    if await change.lock(_LOCK_ROW, claim_id=claim.id):
        await end(change, claim.id, rules.on_other_code)


async def erase(change: Change, subscriber_id: str) -> None:
    """The rows stay as those of other erased subscribers do."""
    for each in sorted(await of_subscriber(change, subscriber_id)):
        await end(change, each.id, rules.on_other_code)
        await referral_decisions.erase(change, each.id)
        await evidence.erase(change, each.id)
        await change.run(_DELETE, claim_id=each.id)


async def find_recommender(at: Reading, subscriber: Subscriber, *, shows_friend: bool) -> str:
    """By whose link the claim that is shown came; empty if their name is not to be shown."""
    found = await at.one(_RECOMMENDER, id=subscriber.id)
    assert found is not None  # the subscriber is there
    # A name from before names could contain no links.
    if found.partner and not checks.may_be_linked(found.partner):
        return found.partner
    return names.first_name(found.friend) if shows_friend else ""
