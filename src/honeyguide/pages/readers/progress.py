"""A reader's progress, ready to draw: the next reward, their comb, all rewards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from honeyguide.languages.language import Language
from honeyguide.pages.readers import own_comb
from honeyguide.pages.readers.own_comb import OwnComb
from honeyguide.rewards.carriers import Tracking, find_tracking
from honeyguide.rewards.earned_rewards import REDEEMED
from honeyguide.rewards.earned_states import EarnedReward, EarnedState
from honeyguide.rewards.rewards import MANUAL, Reward, next_reward
from honeyguide.subscribers import referral_states
from honeyguide.subscribers.subscribers import Subscriber

# More would push everything else off a phone's screen.
MOST_READY = 3


@dataclass(frozen=True)
class RewardStep:
    """One line of the list of rewards: earned or still ahead."""

    name: str
    description: str | None
    needs: str
    state: EarnedState | None
    """None while it is ahead."""
    left: int = 0
    every: int = 0  # referrals between two of a recurring reward
    friends: int = 0
    """How many it takes; `needs` is the same, as it is read."""
    kind: str = MANUAL
    earned_id: str = ""
    code: str | None = None
    link: str | None = None
    day: str = ""
    variant: str | None = None
    tracking_note: str | None = None
    decline_reason: str | None = None
    """What the newsletter said to a claim; it can be claimed again."""

    @property
    def tracking(self) -> Tracking | None:
        """Where to follow it, if we know its carrier."""
        return find_tracking(self.tracking_note)


class ReferralCount(NamedTuple):
    """What a reader has toward rewards, and what waits."""

    verified: int
    waiting: int
    adjustments: int = 0
    """What the newsletter added, or took off."""

    @classmethod
    def of(cls, person: Subscriber) -> ReferralCount:
        return cls(person.referrals_verified, person.referrals_pending, person.adjustments)

    @property
    def toward_rewards(self) -> int:
        return referral_states.toward_rewards(self.verified, self.adjustments)


@dataclass(frozen=True)
class Progress:
    verified: int
    waiting: int
    toward_rewards: int
    adjusted: str
    """A sentence about adjustments. Empty if there are none."""
    next_name: str | None
    left: int
    comb: OwnComb
    steps: list[RewardStep]
    earlier: list[RewardStep]
    news: RewardStep | None
    """What was earned since they last looked."""

    @property
    def ready(self) -> list[RewardStep]:
        """The first of those that can be claimed now. The others are in the list of rewards."""
        can_be_claimed = [step for step in self.steps if step.state == EarnedState.UNLOCKED]
        return can_be_claimed[:MOST_READY]


def measure(
    language: Language,
    rewards: Sequence[Reward],
    earned: Sequence[EarnedReward],
    referrals: ReferralCount,
    *,
    unseen: Collection[str] = (),
) -> Progress:
    """`unseen` are the ids of earned rewards that the reader sees for the first time."""
    count = referrals.toward_rewards
    ahead = next_reward(rewards, count)
    steps, earlier = _steps(language, rewards, earned, count)
    name, left = (ahead[0].name, ahead[1]) if ahead else (None, 0)
    news = [step for step in steps if step.earned_id in unseen]
    return Progress(
        verified=referrals.verified,
        waiting=referrals.waiting,
        toward_rewards=count,
        adjusted=_adjusted(language, referrals.adjustments),
        next_name=name,
        left=left,
        comb=own_comb.draw(count, referrals.waiting, left or None, is_joy=bool(news)),
        steps=steps,
        earlier=earlier,
        news=news[-1] if news else None,
    )


def _adjusted(language: Language, amount: int) -> str:
    if not amount:
        return ""
    shown = language.signed_number(amount)
    return language.gettext("Adjusted by the newsletter: {amount}", amount=shown)


def _steps(
    language: Language, rewards: Sequence[Reward], earned: Sequence[EarnedReward], count: int
) -> tuple[list[RewardStep], list[RewardStep]]:
    """All rewards by the referrals they take. Of a recurring reward, only the last claim is among
    them; the claims before it are the second list."""
    lines: list[tuple[int, RewardStep]] = []
    earlier: list[RewardStep] = []
    last_claim = {
        each.reward_id: each.id for each in earned if each.recurring and each.state.is_done
    }
    for each in earned:
        step = _earned(language, each)
        if last_claim.get(each.reward_id, each.id) != each.id and each.state.is_done:
            earlier.append(step)
        else:
            lines.append((each.referrals * each.multiple, step))
    have = {each.reward_id for each in earned}
    for reward in rewards:
        if reward.recurring:
            needs = reward.referrals * (reward.times_reached(count) + 1)
        elif reward.id in have:
            continue
        else:
            needs = reward.referrals
        left = max(0, needs - count)
        every = reward.referrals if reward.recurring else 0
        step = RewardStep(
            name=reward.name,
            description=reward.description,
            needs=language.number(needs),
            state=None,
            left=left,
            every=every,
            friends=needs,
            kind=reward.kind,
        )
        lines.append((needs, step))
    lines.sort(key=itemgetter(0))
    return [step for _, step in lines], earlier[::-1]


def _earned(language: Language, earned: EarnedReward) -> RewardStep:
    redeemed = earned.status == REDEEMED
    at_ms = (
        earned.delivered_ms
        or earned.sent_ms
        or (earned.redeemed_ms if redeemed else earned.claimed_ms or earned.earned_ms)
    )
    return RewardStep(
        name=earned.name,
        description=earned.description,
        needs=language.number(earned.referrals * earned.multiple),
        state=earned.state,
        every=earned.referrals if earned.recurring else 0,
        friends=earned.referrals * earned.multiple,
        kind=earned.kind,
        earned_id=earned.id,
        code=earned.coupon_code if redeemed else None,
        link=earned.link if redeemed else None,
        day="" if at_ms is None else language.day(at_ms),
        variant=earned.variant,
        tracking_note=earned.tracking_note,
        decline_reason=earned.decline_reason,
    )
