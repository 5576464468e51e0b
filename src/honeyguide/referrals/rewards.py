"""The rewards that a campaign offers: how many verified referrals each takes, what it is, how it is
given out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.events import change_log
from honeyguide.kernel import checks, public
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import rules
from honeyguide.referrals.page_index import TOP
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

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
    recurring: int
    approval: str
    description: str | None
    link: str | None
    coupon_code: str | None
    is_pool: int
    codes_total: int
    codes_left: int
    waiting: int
    created_ms: int
    deleted_ms: int | None
    variants: str | None = None

    @property
    def variant_names(self) -> list[str]:
        return variants_of(self.variants)

    def times_reached(self, count: int) -> int:
        """How often somebody earned it who has `count` toward rewards."""
        return rules.times_reached(self.referrals, count, is_recurring=bool(self.recurring))


def variants_of(kept: str | None) -> list[str]:
    """The names of the variants, from how they are stored."""
    return msgspec.json.decode(kept, type=list[str]) if kept else []


AtLeastOne = Annotated[public.ReferralsNeeded, public.doc(minimum=1)]


class RewardFields(msgspec.Struct, frozen=True):
    """What callers may set when they create a reward."""

    name: public.RewardName | None = None
    referrals: AtLeastOne | None = None
    kind: public.RewardKind | None = None
    recurring: public.Recurring | None = None
    approval: public.Approval | None = None
    description: public.RewardDescription | None = None
    link: public.RewardLink | None = None
    coupon_code: public.CouponCode | None = None
    variants: public.Variants | None = None


class NewReward(RewardFields, frozen=True):
    """`pool` is true for unique codes, which are added later."""

    pool: bool = False


class RewardChanges(msgspec.Struct, frozen=True):
    """UNSET leaves a field as it is; None clears the description or the variants. `kind` cannot
    change."""

    name: public.RewardName | UnsetType = UNSET
    referrals: AtLeastOne | UnsetType = UNSET
    kind: public.RewardKind | UnsetType = UNSET
    recurring: public.Recurring | UnsetType = UNSET
    approval: public.Approval | UnsetType = UNSET
    description: public.RewardDescription | UnsetType | None = UNSET
    link: public.RewardLink | UnsetType = UNSET
    coupon_code: public.CouponCode | UnsetType = UNSET
    variants: public.Variants | UnsetType | None = UNSET


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_UPDATE = _sql.command("update")
_DELETE = _sql.command("delete")
_OF_CAMPAIGN = _sql.query("of_campaign", Reward)
_BY_ID = _sql.query("by_id", Reward)
_START_BACKFILL = _sql.command("start_backfill")
_LOCK = _sql.value("lock", str)
_COUNT = _sql.value("count", int)


async def of_campaign(tx: Tx, tenant: Tenant) -> list[Reward]:
    """What can be earned now, the nearest first."""
    return await tx.all(_OF_CAMPAIGN, account_id=tenant.account_id, campaign_id=tenant.campaign_id)


async def get(tx: Tx, tenant: Tenant, reward_id: str, *, deleted_too: bool = False) -> Reward:
    found = (
        await tx.one(
            _BY_ID, account_id=tenant.account_id, campaign_id=tenant.campaign_id, id=reward_id
        )
        if is_id(reward_id)
        else None
    )
    if found is None or (found.deleted_ms is not None and not deleted_too):
        raise Missing(UNKNOWN)
    return found


async def create(change: Change, new: NewReward) -> Reward:
    """Advocates who have already reached it get it too, by a backfill that begins at the newest
    advocate."""
    if new.name is None or new.referrals is None:
        missing = "name" if new.name is None else "referrals"
        raise Required(missing)
    if (await change.one(_COUNT) or 0) >= MOST_REWARDS:
        raise Invalid(
            "A campaign can have at most {most} rewards; delete one first.",
            code="too_many_rewards",
            most=MOST_REWARDS,
        )
    fields = _checked(
        name=new.name,
        referrals=new.referrals,
        kind=new.kind or MANUAL,
        recurring=bool(new.recurring),
        approval=new.approval or AUTOMATIC,
        description=new.description,
        link=new.link,
        coupon_code=new.coupon_code,
        is_pool=new.pool,
        variants=new.variants,
    )
    reward_id = new_id()
    await change.run(_INSERT, id=reward_id, walk_ms=TOP[0], walk_id=TOP[1], **fields)
    await change_log.record(change, "reward.created", reward_id, None, fields)
    return await get(change.tx, change.tenant, reward_id)


async def lock(change: Change, reward_id: str) -> None:
    """Locks the reward and its codes until the transaction ends."""
    await change.lock(_LOCK, id=reward_id)


async def update(change: Change, reward_id: str, changes: RewardChanges) -> Reward:
    # Without the lock, two changes at once would each write back what the other changed.
    await lock(change, reward_id)
    old = await get(change.tx, change.tenant, reward_id)
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
    chosen: dict[str, Any] = {name: getattr(old, name) for name in _FIELDS}
    chosen["variants"] = old.variant_names
    chosen |= {
        name: value
        for name in RewardChanges.__struct_fields__
        if (value := getattr(changes, name)) is not UNSET
    }
    fields = _checked(**chosen)
    # Easier to reach than before: there may be advocates who are past it now.
    needs_backfill = fields["referrals"] < old.referrals or fields["recurring"] > old.recurring
    await change.run(
        _UPDATE,
        id=old.id,
        needs_backfill=int(needs_backfill),
        walk_ms=TOP[0],
        walk_id=TOP[1],
        **{name: fields[name] for name in _FIELDS if name not in ("kind", "is_pool")},
    )
    before = {name: getattr(old, name) for name in _FIELDS}
    await change_log.record(change, "reward.changed", old.id, before, fields)
    return await get(change.tx, change.tenant, old.id)


async def start_backfill(change: Change) -> None:
    """Looks for what advocates lack of all recurring rewards, in the background."""
    await change.run(_START_BACKFILL, walk_ms=TOP[0], walk_id=TOP[1])


async def delete(change: Change, reward_id: str) -> None:
    """No longer offered; what was earned stays earned."""
    reward = await get(change.tx, change.tenant, reward_id)
    await change.run(_DELETE, id=reward.id)
    await change_log.record(change, "reward.deleted", reward.id, {"name": reward.name})


_FIELDS = (
    "name",
    "referrals",
    "kind",
    "recurring",
    "approval",
    "description",
    "link",
    "coupon_code",
    "is_pool",
    "variants",
)


def _checked(
    *,
    name: str,
    referrals: int,
    kind: str,
    recurring: bool | int,
    approval: str,
    description: str | None,
    link: str | None,
    coupon_code: str | None,
    is_pool: bool | int,
    variants: list[str] | None,
) -> dict[str, Any]:
    """The columns, or one sentence about what is wrong with them."""
    checks.text(name, param="name", limit=checks.NAME_LIMIT, blank_ok=False)
    if not 1 <= referrals <= MOST_REFERRALS:
        raise Invalid(
            "{field} must be a whole number from 1 to {most:,}.",
            param="referrals",
            most=MOST_REFERRALS,
        )
    checks.one_of(kind, REWARD_KINDS, param="kind")
    checks.one_of(approval, APPROVALS, param="approval")
    if description is not None:
        checks.text(description, param="description", limit=checks.DESCRIPTION_LIMIT)
    if link is not None:
        checks.http_url(link, param="link")
    if coupon_code is not None:
        checks.text(coupon_code, param="coupon_code", limit=checks.STRING_LIMIT, blank_ok=False)
    _check_belongs(kind, link, coupon_code, bool(is_pool))
    if variants and kind != PHYSICAL:
        raise Invalid("{field} are only for rewards of kind physical.", param="variants")
    return {
        "name": name,
        "referrals": referrals,
        "kind": kind,
        "recurring": int(recurring),
        "approval": approval,
        "description": description,
        "link": link,
        "coupon_code": coupon_code,
        "is_pool": int(is_pool),
        "variants": _checked_variants(variants) if variants else None,
    }


def _checked_variants(variants: list[str]) -> str:
    """Sizes or colors, as they are stored."""
    if len(variants) > MOST_VARIANTS:
        raise Invalid(
            "{field} can have at most {most} entries.", param="variants", most=MOST_VARIANTS
        )
    for variant in variants:
        checks.text(variant, param="variants", limit=VARIANT_LIMIT, blank_ok=False)
    names = [variant.strip() for variant in variants]
    if len({name.casefold() for name in names}) < len(names):
        raise Invalid("{field} must all be different.", param="variants")
    return msgspec.json.encode(names).decode()


def _check_belongs(kind: str, link: str | None, coupon_code: str | None, is_pool: bool) -> None:
    """Each kind has what it needs and nothing that would never be given out."""
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
