"""The pace of confirmation emails. A referral code may send a few to people who do not confirm, and
more as they do. Beyond that it is flooded, and the emails of its signups go at a pace, so that a
robot that enters a bought list cannot make us write to thousands of strangers, and nobody who
floods a partner's code keeps the emails of that partner's readers from leaving.

What waits is looked at about every half minute: as many as those who confirmed allow go first, the
oldest of them; of all others those that chance chooses among their IP networks. Signups whose
browser did the work that the form asked for have a pace of their own. The owner can send them all.
"""

from __future__ import annotations

import itertools
import random
from typing import NamedTuple
from urllib.parse import urlencode

from honeyguide.accounts import accounts, attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.events import change_log
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS, SECOND_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails, texts
from honeyguide.mail.notification_kinds import CONFIRMATIONS_HELD
from honeyguide.signups import proof_of_work
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
# The pace of a flooded code. A window begins with its first email, so eleven windows of six minutes
# and six of twelve touch an hour: at most 200 emails an hour and code after work, 25 others, and 60
# others of an account.
AFTER_WORK = Limit("confirmations of code after work", 18, 6 * MINUTE_MS)
OTHERS = Limit("confirmations of code", 4, 12 * MINUTE_MS)
OTHERS_OF_ACCOUNT = Limit("confirmations of account", 10, 12 * MINUTE_MS)
# Of those who wait, so many are compared in one look, from a time that chance chooses.
COMPARED = 2_000

LOOK_EVERY_MS = 30 * SECOND_MS
# As long as the referral of somebody who does not confirm lives.
HELD_MS = 30 * DAY_MS
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
    is_account_flooded: bool = False


def allowance(counts: CodeCounts) -> int:
    """How many confirmation emails may leave at once. The code is flooded if none may."""
    if counts.is_account_flooded:
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


class _Flood(NamedTuple):
    waiting: int
    counts: CodeCounts


class _Arrival(NamedTuple):
    look_ms: int | None
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
    newest_ms: int | None


class PacedEmail(NamedTuple):
    id: str
    network: str | None


_sql = beside(__file__)
_ARRIVAL = _sql.query(
    "arrival",
    lambda look_ms, is_queued, *n: _Arrival(look_ms, is_queued, CodeCounts(*n)),
)
_FLOOD = _sql.query("flood", lambda waiting, *n: _Flood(waiting, CodeCounts(*n)))
_COUNTS = _sql.query("counts", CodeCounts)
_PUT_ON = _sql.command("put_on")
_DUE_CODES = _sql.query(
    "due_codes",
    lambda account_id, campaign_id, code: HeldCode(Tenant(account_id, campaign_id), code),
)
_LOCK = _sql.query("lock", _Brake)
_FIRST = _sql.query("first", _First)
_RELEASE = _sql.command("release")
_COMPARED = _sql.query("compared", PacedEmail)
_RELEASE_CHOSEN = _sql.command("release_chosen")
_CANCEL_OLD = _sql.command("cancel_old")
_WAITING = _sql.query("waiting", _StillHeld)
_SET_WORK = _sql.command("set_work")
_SET_LOOK = _sql.command("set_look")
_SET_RELEASED = _sql.command("set_released")
_HELD = _sql.query("held", HeldEmails)
_RELEASE_ONE = _sql.command("release_one")
_CANCEL_ONE = _sql.command("cancel_one")


async def count_flood(at: Reading, code: str) -> int | None:
    """How many emails of a flooded code wait, as far as that changes the work that its forms ask
    for. None if the code is not flooded."""
    found = await at.one(
        _FLOOD,
        code=code,
        subscriber_id="",
        received_ms=at.now_ms + 1,
        since_ms=at.now_ms - RECENT_MS,
        newest=NEWEST,
        counted=proof_of_work.COUNTED,
    )
    assert found is not None  # it counts
    return found.waiting if found.waiting or not allowance(found.counts) else None


async def find_hold(change: Change, subscriber: Subscriber) -> Hold | None:
    """Whether an email that asks them to confirm must wait: if their code is flooded, or others of
    it wait."""
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
    )
    assert found is not None  # it counts
    if found.look_ms is None and allowance(found.counts):
        return None
    return Hold(code, bool(found.is_queued))


async def put_on(
    change: Change, code: str, subscriber_id: str = "", *, has_worked: bool = False
) -> None:
    """An email of this code was queued to wait. After work it is looked at immediately."""
    wait_ms = LOOK_EVERY_MS
    if has_worked:
        wait_ms = 0
        await change.run(_SET_WORK, subscriber_id=subscriber_id)
        change.tx.wake(TOPIC)
    await change.put(_PUT_ON, code=code, look_ms=change.now_ms + wait_ms)


# -- the job


async def due_codes(tx: Tx, *, most: int) -> list[HeldCode]:
    """Codes with emails that wait, of all accounts."""
    return await tx.all(_DUE_CODES, until_ms=tx.now_ms, most=most)


async def release_or_cancel(change: Change, code: str, chance: random.Random) -> None:
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
        most = await _count_allowed(change, code)
        released += await _release(change, code, most, until_ms=change.now_ms)
        released += await _release_at_pace(change, code, chance)
    if released:
        change.tx.wake(emails.TOPIC)
    left = await change.one(_WAITING, code=code, most=NOTIFY_FROM)
    look_ms = None
    if left is not None and left.since_ms is not None:
        # By chance, so that of many codes no one is always the first.
        wait_ms = LOOK_EVERY_MS // 2 + chance.randrange(LOOK_EVERY_MS)
        look_ms = change.now_ms + (0 if is_more else wait_ms)
        if not is_more and _is_worth_telling(left, change.now_ms):
            await _notify(change, code, brake)
    await change.run(_SET_LOOK, code=code, look_ms=look_ms)


async def _release(change: Change, code: str, most: int, *, until_ms: int) -> int:
    return await change.run(_RELEASE, code=code, until_ms=until_ms, most=most) if most else 0


async def _count_allowed(change: Change, code: str) -> int:
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
    )
    assert counts is not None
    return allowance(counts)


async def _release_at_pace(change: Change, code: str, chance: random.Random) -> int:
    """Those who worked, and others, each by chance among their IP networks: whoever sends many
    forms from one network has no more chances, and coming first is no advantage."""
    chosen = list[str]()
    for has_worked, may_leave in ((1, _may_leave_after_work), (0, _may_leave)):
        for id in by_chance(await _find_compared(change, code, has_worked, chance), chance):
            if not await may_leave(change, code):
                break
            chosen.append(id)
    return await change.run(_RELEASE_CHOSEN, ids=chosen) if chosen else 0


async def _may_leave_after_work(change: Change, code: str) -> bool:
    return await _count(change, AFTER_WORK, f"{change.tenant.campaign_id} {code}")


async def _may_leave(change: Change, code: str) -> bool:
    account_id = change.tenant.account_id
    if not await _count(change, OTHERS_OF_ACCOUNT, account_id):
        return False
    if await _count(change, OTHERS, f"{change.tenant.campaign_id} {code}"):
        return True
    await attempts.take_back(change.tx, change.site, OTHERS_OF_ACCOUNT, account_id)
    return False


async def _count(change: Change, limit: Limit, who: str) -> bool:
    return await attempts.is_allowed(change.tx, change.site, limit, who)


async def _find_compared(
    change: Change, code: str, has_worked: int, chance: random.Random
) -> list[PacedEmail]:
    """All who wait, or so many from a time that chance chooses."""
    left = await change.one(_WAITING, code=code, most=COMPARED)
    if left is None or left.since_ms is None or left.newest_ms is None:
        return []
    from_ms = chance.randint(left.since_ms, left.newest_ms) if left.n == COMPARED else 0
    found = list[PacedEmail]()
    for begin_ms, end_ms in ((from_ms, change.now_ms), (0, from_ms - 1)):
        if begin_ms <= end_ms and len(found) < COMPARED:
            found += await change.all(
                _COMPARED,
                code=code,
                has_worked=has_worked,
                most=COMPARED,
                from_ms=begin_ms,
                until_ms=end_ms,
            )
    return found


def by_chance(waiting: list[PacedEmail], chance: random.Random) -> list[str]:
    """Their ids: networks by chance, then a second one of each, and so on."""
    of_network = dict[str | None, list[str]]()
    for each in chance.sample(waiting, len(waiting)):
        of_network.setdefault(each.network, []).append(each.id)
    networks = chance.sample(list(of_network.values()), len(of_network))
    turns = itertools.zip_longest(*networks)
    return [id for turn in turns for id in turn if id is not None]


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
    """Sends whatever waits for a code, within seconds, and begins to count anew. Returns how many,
    at most `COUNTED`."""
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
