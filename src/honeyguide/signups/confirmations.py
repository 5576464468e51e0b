"""The brake on confirmation emails. A referral code may send a few to people who do not confirm,
and more as they do; beyond that, the emails of its signups wait. So a robot that enters a bought
list cannot make us write to thousands of strangers.

What waits is looked at every half minute: the oldest emails go as soon as enough people confirmed.
The owner can send them all. What waits for a week is canceled.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from honeyguide.accounts import accounts
from honeyguide.events import change_log
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS, SECOND_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails, texts
from honeyguide.mail.notification_kinds import CONFIRMATIONS_HELD
from honeyguide.screening.signals import SUSPICIOUS_POINTS
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding
from honeyguide.subscribers.subscribers import Subscriber

# The job.
RELEASING = "release confirmation emails that wait"
# A commit that wakes it: the owner sends what waits.
TOPIC = "confirmations"
# People with one code who may be written to before any of them confirms, and how many more for each
# one who does. A code of which one in six confirms is never stopped for long.
FREE = 25
PER_CONFIRMED = 4
# Counted among so many who came with the code last, within a week.
NEWEST = 100
RECENT_MS = 7 * DAY_MS
# The group speaks against the code: so many of those, and at least half of them, have evidence that
# makes them suspicious by itself.
SUSPICIOUS = 5

LOOK_EVERY_MS = 30 * SECOND_MS
HELD_MS = 7 * DAY_MS
# Released or canceled in one transaction.
BATCH = 500
# A wave of honest people is through in minutes, and nobody is notified of it.
NOTIFY_AFTER_MS = 10 * MINUTE_MS
NOTIFY_FROM = 100
CODES_SHOWN = 20
COUNTED = 10_000


class CodeCounts(NamedTuple):
    """Of those who came last with a code and had to confirm."""

    unconfirmed: int
    confirmed: int
    suspicious: int


def allowance(counts: CodeCounts, *, is_trusted: bool = False) -> int:
    """How many confirmation emails may leave now. `is_trusted` if the owner saw the evidence and
    sent the emails nevertheless."""
    people = counts.unconfirmed + counts.confirmed
    is_suspicious = counts.suspicious >= SUSPICIOUS and 2 * counts.suspicious >= people
    if is_suspicious and not is_trusted:
        return 0
    most = FREE + PER_CONFIRMED * counts.confirmed - counts.unconfirmed
    return max(0, min(NEWEST, most))


class Hold(NamedTuple):
    code: str
    is_queued: bool
    """An email about this signup waits already."""


class HeldCode(NamedTuple):
    tenant: Tenant
    code: str


class HeldEmails(NamedTuple):
    code: str
    n: int
    """At most `COUNTED`."""
    since_ms: int


class _Arrival(NamedTuple):
    look_ms: int | None
    released_ms: int | None
    is_queued: int
    counts: CodeCounts


class _Brake(NamedTuple):
    look_ms: int | None
    released_ms: int | None


class _First(NamedTuple):
    received_ms: int
    subscriber_id: str


class _StillHeld(NamedTuple):
    n: int
    since_ms: int | None


_sql = beside(__file__)
_ARRIVAL = _sql.query(
    "arrival",
    lambda look_ms, released_ms, is_queued, *n: _Arrival(
        look_ms, released_ms, is_queued, CodeCounts(*n)
    ),
)
_COUNTS = _sql.query("counts", CodeCounts)
_PUT_ON = _sql.command("put_on")
_DUE_CODES = _sql.query(
    "due_codes",
    lambda account_id, campaign_id, code: HeldCode(Tenant(account_id, campaign_id), code),
)
_LOCK = _sql.query("lock", _Brake)
_FIRST = _sql.query("first", _First)
_RELEASE = _sql.command("release")
_CANCEL_OLD = _sql.command("cancel_old")
_WAITING = _sql.query("waiting", _StillHeld)
_SET_LOOK = _sql.command("set_look")
_SET_RELEASED = _sql.command("set_released")
_HELD = _sql.query("held", HeldEmails)
_RELEASE_ONE = _sql.command("release_one")
_CANCEL_ONE = _sql.command("cancel_one")


async def find_hold(change: Change, subscriber: Subscriber) -> Hold | None:
    """Whether an email that asks them to confirm must wait. Emails of one code go in the order in
    which they were asked for, so one that comes while others wait waits too."""
    code, received_ms = subscriber.referrer_code, subscriber.received_ms
    if code is None or received_ms <= change.now_ms - RECENT_MS:
        return None
    found = await change.one(
        _ARRIVAL,
        code=code,
        subscriber_id=subscriber.id,
        received_ms=received_ms,
        since_ms=received_ms - RECENT_MS,
        newest=NEWEST,
        points=SUSPICIOUS_POINTS,
    )
    assert found is not None  # it counts
    is_trusted = _is_trusted(found.released_ms, change.now_ms)
    if found.look_ms is None and allowance(found.counts, is_trusted=is_trusted):
        return None
    return Hold(code, bool(found.is_queued))


def _is_trusted(released_ms: int | None, now_ms: int) -> bool:
    return released_ms is not None and released_ms > now_ms - RECENT_MS


async def put_on(change: Change, code: str) -> None:
    """An email of this code was queued to wait."""
    await change.put(_PUT_ON, code=code, look_ms=change.now_ms + LOOK_EVERY_MS)


# -- the job


async def due_codes(tx: Tx, *, now_ms: int, most: int) -> list[HeldCode]:
    """Codes with emails that wait, of all accounts."""
    return await tx.all(_DUE_CODES, until_ms=now_ms, most=most)


async def release_or_cancel(change: Change, code: str) -> None:
    """Releases what may leave by now, and cancels what waited for too long. Only a batch, however
    many wait; the rest follows at the next look."""
    brakes = await change.lock(_LOCK, code=code)
    brake = brakes[0] if brakes else _Brake(None, None)
    if brake.look_ms is None or brake.look_ms > change.now_ms:
        return  # another process was first
    canceled = await change.run(
        _CANCEL_OLD, code=code, until_ms=change.now_ms - HELD_MS, most=BATCH
    )
    released = 0
    if brake.released_ms is not None:
        released = await _release(change, code, BATCH, until_ms=brake.released_ms)
    is_more = BATCH in (canceled, released)
    if not is_more:
        most = await _count_allowed(change, code, brake)
        released += await _release(change, code, most, until_ms=change.now_ms)
    if released:
        change.tx.wake(emails.TOPIC)
    left = await change.one(_WAITING, code=code, most=NOTIFY_FROM)
    look_ms = None
    if left is not None and left.since_ms is not None:
        look_ms = change.now_ms + (0 if is_more else LOOK_EVERY_MS)
        if not is_more and _is_worth_telling(left, change.now_ms):
            await _notify(change, code, brake)
    await change.run(_SET_LOOK, code=code, look_ms=look_ms)


async def _release(change: Change, code: str, most: int, *, until_ms: int) -> int:
    return await change.run(_RELEASE, code=code, until_ms=until_ms, most=most) if most else 0


async def _count_allowed(change: Change, code: str, brake: _Brake) -> int:
    """As many as if the first of those who wait came just now."""
    first = await change.one(_FIRST, code=code)
    if first is None:
        return 0
    counts = await change.one(
        _COUNTS,
        code=code,
        **first._asdict(),
        since_ms=first.received_ms - RECENT_MS,
        newest=NEWEST,
        points=SUSPICIOUS_POINTS,
    )
    assert counts is not None
    return allowance(counts, is_trusted=_is_trusted(brake.released_ms, change.now_ms))


def _is_worth_telling(left: _StillHeld, now_ms: int) -> bool:
    assert left.since_ms is not None
    return left.n >= NOTIFY_FROM or left.since_ms <= now_ms - NOTIFY_AFTER_MS


async def _notify(change: Change, code: str, brake: _Brake) -> None:
    """Once for each code, and again if emails wait after the owner sent what waited."""
    link = "/review?" + urlencode({"show": "pending", "code": code})
    message = texts.confirmations_held(
        newsletter=(await change.fact(branding.of)).name, page=f"{change.site.base_url}{link}"
    )
    cause = f"{change.tenant.campaign_id}:{code}:{brake.released_ms or 0}"
    await accounts.notify_owner(change, CONFIRMATIONS_HELD.name, cause, message, link=link)


# -- the owner


async def held(at: Reading, code: str = "") -> list[HeldEmails]:
    """What waits for one code, or for each of them. Those that wait longest come first."""
    return await at.all(_HELD, code=code, counted=COUNTED, most=CODES_SHOWN)


async def release_all(change: Change, code: str) -> int:
    """Sends whatever waits for a code, within seconds, and trusts it for a week: then only the
    number of those who do not confirm stops its emails. Returns how many, at most `COUNTED`."""
    found = await held(change, code)
    if not found:
        return 0
    await change.run(_SET_RELEASED, code=code)
    after = {"code": code, "emails": found[0].n}
    await change_log.record(
        change, "confirmations.released", change.tenant.campaign_id, after=after
    )
    change.tx.wake(TOPIC)
    return found[0].n


async def release_one(change: Change, subscriber_id: str) -> None:
    if await change.run(_RELEASE_ONE, subscriber_id=subscriber_id):
        change.tx.wake(emails.TOPIC)


async def cancel_one(change: Change, subscriber: Subscriber) -> None:
    """Not those of claims with other codes, which may be confirmed yet."""
    await change.put(_CANCEL_ONE, subscriber_id=subscriber.id, code=subscriber.referrer_code)
