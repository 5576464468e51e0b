"""The rewards that a campaign offers: how many verified referrals each takes, what it is, how it is
given out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.events import change_log
from honeyguide.kernel import checks, fields, public
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.public import choice, doc
from honeyguide.screening import rules
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.page_index import TOP

UNKNOWN = "There is no such reward."
MANUAL, LINK, COUPON, PHYSICAL = REWARD_KINDS = ("manual", "link", "coupon", "physical")
AUTOMATIC, BY_HAND = APPROVALS = ("automatic", "manual")
# Far more than a reader would look at, and few enough to read them all wherever one is needed.
MOST_REWARDS = 100
MOST_REFERRALS = 1_000_000
MOST_VARIANTS = 50
VARIANT_LIMIT = 60


class Reward(NamedTuple):
    id: str
    name: str
    referrals: int
    kind: str
    recurring: bool
    approval: str
    description: str | None
    link: str | None
    coupon_code: str | None
    is_pool: bool
    codes_total: int
    codes_left: int
    waiting: int
    created_ms: int
    deleted_ms: int | None
    variants: list[str] | None = None

    def times_reached(self, count: int) -> int:
        """How often somebody earned it who has `count` toward rewards."""
        return rules.times_reached(self.referrals, count, is_recurring=self.recurring)


def _check_referrals(number: int, *, param: str) -> int:
    if not 1 <= number <= MOST_REFERRALS:
        raise Invalid(
            "{field} must be a whole number from 1 to {most:,}.", param=param, most=MOST_REFERRALS
        )
    return number


def _check_variants(variants: list[str], *, param: str) -> list[str] | None:
    """Sizes or colors."""
    if not variants:
        return None
    if len(variants) > MOST_VARIANTS:
        raise Invalid("{field} can have at most {most} entries.", param=param, most=MOST_VARIANTS)
    for variant in variants:
        checks.text(variant, param=param, limit=VARIANT_LIMIT, blank_ok=False)
    names = [variant.strip() for variant in variants]
    if len({name.casefold() for name in names}) < len(names):
        raise Invalid("{field} must all be different.", param=param)
    return names


AtLeastOne = Annotated[
    public.ReferralsNeeded,
    doc(label="Referrals needed", rule=_check_referrals, minimum=1, maximum=MOST_REFERRALS),
]
Kind = Annotated[
    str,
    choice(
        "What it is: something you hand over yourself, a link, a coupon code, or something you "
        "ship.",
        PHYSICAL,
        allowed=REWARD_KINDS,
        label="Type of reward",
        default=MANUAL,
    ),
]
Approval = Annotated[
    str,
    choice(
        "Whether you approve each one before it is unlocked (`manual`).",
        AUTOMATIC,
        allowed=APPROVALS,
        default=AUTOMATIC,
    ),
]
Variants = Annotated[
    list[str],
    doc(
        "Sizes or colors of a physical reward to choose from, all different.",
        ["Blue", "Yellow"],
        label="Sizes or variants",
        rule=_check_variants,
        maxItems=MOST_VARIANTS,
        each={"minLength": 1, "maxLength": VARIANT_LIMIT},
    ),
]


class RewardFields(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is; None clears the description or the
    variants. `kind` cannot change later."""

    name: public.RewardName | UnsetType = UNSET
    referrals: AtLeastOne | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    recurring: public.Recurring | UnsetType = UNSET
    approval: Approval | UnsetType = UNSET
    description: public.RewardDescription | UnsetType | None = UNSET
    link: public.RewardLink | UnsetType = UNSET
    coupon_code: public.CouponCode | UnsetType = UNSET
    variants: Variants | UnsetType | None = UNSET


class NewReward(RewardFields, frozen=True):
    """`pool` is true for unique codes, which are added later."""

    pool: bool = False


REQUIRED = ("name", "referrals")
_DEFAULTS = {"link": None, "coupon_code": None, **fields.defaults(RewardFields)}
_COLUMNS = (*fields.columns(RewardFields), "is_pool")
_CHANGED = tuple(name for name in _COLUMNS if name not in ("kind", "is_pool"))
_sql = beside(__file__, reward=Reward._fields, columns=_COLUMNS, changed=_CHANGED)
_INSERT = _sql.command("insert")
_UPDATE = _sql.command("update")
_DELETE = _sql.command("delete")
_OF_CAMPAIGN = _sql.query("of_campaign", Reward)
_BY_ID = _sql.query("by_id", Reward)
_START_BACKFILL = _sql.command("start_backfill")
_LOCK = _sql.value("lock", str)
_COUNT = _sql.value("count", int)


async def of_campaign(at: Reading) -> list[Reward]:
    """What can be earned now, the nearest first."""
    return await at.all(_OF_CAMPAIGN)


async def get(at: Reading, reward_id: str, *, deleted_too: bool = False) -> Reward:
    found = await at.one(_BY_ID, id=reward_id) if is_id(reward_id) else None
    if found is None or (found.deleted_ms is not None and not deleted_too):
        raise Missing(UNKNOWN)
    return found


async def create(change: Change, new: NewReward) -> Reward:
    """Advocates who have already reached it get it too, by a backfill that begins at the newest
    advocate."""
    for param in REQUIRED:
        if isinstance(getattr(new, param), UnsetType):
            raise Required(param)
    if (await change.one(_COUNT) or 0) >= MOST_REWARDS:
        raise Invalid(
            "A campaign can have at most {most} rewards; delete one first.",
            code="too_many_rewards",
            most=MOST_REWARDS,
        )
    columns = _DEFAULTS | fields.checked(RewardFields, new) | {"is_pool": int(new.pool)}
    _check_belongs(columns)
    reward_id = new_id()
    await change.run(_INSERT, id=reward_id, walk_ms=TOP[0], walk_id=TOP[1], **columns)
    await change_log.record(change, "reward.created", reward_id, None, columns)
    return await get(change, reward_id)


async def lock(change: Change, reward_id: str) -> None:
    """Locks the reward and its codes until the transaction ends."""
    await change.lock(_LOCK, id=reward_id)


async def update(change: Change, reward_id: str, changes: RewardFields) -> Reward:
    # Without the lock, two changes at once would each write back what the other changed.
    await lock(change, reward_id)
    old = await get(change, reward_id)
    if changes.kind is not UNSET and changes.kind != old.kind:
        raise Invalid(
            "{field} cannot be changed; delete this reward and create another.", param="kind"
        )
    if changes.coupon_code is not UNSET and old.is_pool:
        raise Invalid(
            "{field} is only for rewards with one shared code; "
            "this reward has unique codes, so add to those.",
            param="coupon_code",
        )
    before = fields.as_stored(old, _COLUMNS)
    columns = before | fields.checked(RewardFields, changes)
    _check_belongs(columns)
    # Easier to reach than before: there may be advocates who are past it now.
    needs_backfill = columns["referrals"] < old.referrals or columns["recurring"] > old.recurring
    await change.run(
        _UPDATE,
        id=old.id,
        needs_backfill=needs_backfill,
        walk_ms=TOP[0],
        walk_id=TOP[1],
        **{name: columns[name] for name in _CHANGED},
    )
    await change_log.record(change, "reward.changed", old.id, before, columns)
    return await get(change, old.id)


async def start_backfill(change: Change) -> None:
    """Looks for what advocates lack of all recurring rewards, in the background."""
    await change.run(_START_BACKFILL, walk_ms=TOP[0], walk_id=TOP[1])


async def delete(change: Change, reward_id: str) -> None:
    """No longer offered; what was earned stays earned."""
    reward = await get(change, reward_id)
    await change.run(_DELETE, id=reward.id)
    await change_log.record(change, "reward.deleted", reward.id, {"name": reward.name})


def _check_belongs(columns: dict[str, Any]) -> None:
    """Each kind has what it needs and nothing that would never be given out."""
    kind, link, coupon_code = columns["kind"], columns["link"], columns["coupon_code"]
    is_pool = bool(columns["is_pool"])
    if kind == LINK and link is None:
        raise Required("link")
    if kind != LINK and link is not None:
        raise Invalid("{field} is only for rewards of kind link.", param="link")
    if kind != COUPON and (coupon_code is not None or is_pool):
        param = "coupon_code" if coupon_code is not None else "coupon_codes"
        raise Invalid("{field} is only for rewards of kind coupon.", param=param)
    if kind == COUPON and is_pool == (coupon_code is not None):
        raise Invalid(
            "A coupon needs either one shared code (coupon_code) "
            "or unique codes (coupon_codes), not both.",
            param="coupon_code",
        )
    if kind != PHYSICAL and columns["variants"] is not None:
        raise Invalid("{field} are only for rewards of kind physical.", param="variants")


def next_reward(rewards: Sequence[Reward], count: int) -> tuple[Reward, int] | None:
    """The reward that an advocate reaches next, and how many referrals are left to it. `count` is
    what they have toward rewards."""
    ahead = [
        (reward.referrals * (reward.times_reached(count) + 1) - count, reward)
        for reward in rewards
        if reward.recurring or not reward.times_reached(count)
    ]
    if not ahead:
        return None
    left, reward = min(ahead, key=lambda each: each[0])
    return reward, left
