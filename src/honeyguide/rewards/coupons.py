"""Pools of unique coupon codes. A code is given once: the counters on the reward's row decide who
gets one, and changing them locks that row until the commit.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import NamedTuple

from honeyguide.accounts import accounts
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.mail import texts
from honeyguide.rewards import rewards
from honeyguide.rewards.rewards import Reward
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

# One request's worth: few enough to be written without holding anybody up.
MOST_AT_ONCE = 10_000
# The owner is notified when a tenth of the last added codes is left, or this many.
FEW = 5
_HEADINGS = frozenset(
    {"code", "codes", "coupon", "coupons", "coupon_code", "coupon_codes", "coupon code"}
)


class Stock(NamedTuple):
    codes_left: int
    waiting: int
    stock_base: int
    stock_told: int


_sql = beside(__file__)
_RESERVE = _sql.query("reserve", Stock)
_RESERVE_FOR_WAITING = _sql.query("reserve_for_waiting", Stock)
_QUEUE = _sql.query("queue", Stock)
_GIVE = _sql.value("give", str)
_TELL = _sql.command("tell")
_UNQUEUE = _sql.command("unqueue")
_ADD = _sql.command("add")
_REFILL = _sql.command("refill")


def read_codes(text: str) -> list[str]:
    """The first column of a CSV file, with or without a heading; blank lines are passed over."""
    cells = [row[0].strip() for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"))) if row]
    codes = [cell for cell in cells if cell]
    return codes[1:] if codes and codes[0].lower() in _HEADINGS else codes


def _checked(codes: Iterable[str]) -> list[str]:
    given = [code.strip() for code in codes]
    if len(given) > MOST_AT_ONCE:
        raise Invalid(
            "{field} can have at most {most:,} codes at once; add the rest after these.",
            param="coupon_codes",
            most=MOST_AT_ONCE,
        )
    for code in given:
        checks.text(code, param="coupon_codes", limit=checks.STRING_LIMIT, blank_ok=False)
    return list(dict.fromkeys(given))


async def add(change: Change, reward: Reward, codes: Iterable[str]) -> int:
    """Adds codes to a pool and returns how many were new. A code that is there already, given out
    or not, is skipped."""
    if not reward.is_pool:
        raise Invalid(
            "{field} is only for coupons with unique codes; this reward has one shared code.",
            param="coupon_codes",
        )
    distinct = _checked(codes)
    if not distinct:
        return 0
    # Lock the reward first, so that a signup that unlocks it meanwhile waits for these codes.
    await rewards.lock(change, reward.id)
    coupons = [{"id": new_id(), "code": code} for code in distinct]
    added = await change.run(_ADD, reward_id=reward.id, coupons=coupons)
    if added:
        await change.run(_REFILL, id=reward.id, added=added)
    return added


async def leave_queue(change: Change, reward_id: str, n: int) -> None:
    assert n >= 0
    await change.run(_UNQUEUE, id=reward_id, n=n)


async def take(
    change: Change, reward: Reward, earned_id: str, *, queued: bool = False
) -> str | None:
    """A code for this earned reward, or None and a place in the queue. Those in the queue
    (`queued`) come first."""
    stock = await change.one(_RESERVE_FOR_WAITING if queued else _RESERVE, id=reward.id)
    code = None
    if stock is not None:
        code = await change.one(_GIVE, reward_id=reward.id, earned_id=earned_id)
        assert code is not None  # codes_left counts exactly the codes that nobody has
    elif not queued:
        stock = await change.one(_QUEUE, id=reward.id)
        assert stock is not None  # rewards are marked as deleted, their rows stay
    if stock is not None:
        assert stock.codes_left >= 0 and stock.waiting >= 0
        await _tell_owner(change, reward, stock)
    return code


async def _tell_owner(change: Change, reward: Reward, stock: Stock) -> None:
    """Once when few are left and once when none is, until the pool is filled again."""
    if not stock.codes_left:
        level = 2
    elif stock.codes_left <= max(FEW, stock.stock_base // 10):
        level = 1
    else:
        level = 0
    if level <= stock.stock_told:
        return
    await change.run(_TELL, id=reward.id, level=level)
    page = f"{change.site.base_url}/rewards"
    if level == 2:
        kind = "reward_out_of_stock"
        message = texts.reward_out_of_stock(reward=reward.name, waiting=stock.waiting, page=page)
    else:
        kind = "reward_low_stock"
        message = texts.reward_low_stock(reward=reward.name, left=stock.codes_left, page=page)
    # `stock_told` prevents a second one until the pool is filled again.
    cause = f"{reward.id}:{change.now_ms}"
    await accounts.notify_owner(change, kind, cause, message, link=f"/rewards/{reward.id}")
