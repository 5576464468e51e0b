"""A reader's progress, ready to draw: the next reward, the track of milestones, all rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from honeyguide.languages.language import Language
from honeyguide.referrals import rules
from honeyguide.referrals.earned_rewards import REDEEMED, EarnedReward
from honeyguide.referrals.earned_states import EarnedState
from honeyguide.referrals.rewards import MANUAL, Reward, next_reward
from honeyguide.referrals.subscribers import Subscriber

# As many as fit on a phone.
MOST_STOPS = 5


@dataclass(frozen=True)
class Stop:
    """A milestone on the track."""

    label: str
    at: str  # per cent of the width
    reached: bool


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
    kind: str = MANUAL
    earned_id: str = ""
    code: str | None = None
    link: str | None = None
    day: str = ""
    variant: str | None = None
    tracking_note: str | None = None


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
        return rules.toward_rewards(self.verified, self.adjustments)


@dataclass(frozen=True)
class Progress:
    verified: int
    waiting: int
    toward_rewards: int
    adjusted: str
    """A sentence about adjustments. Empty if there are none."""
    next_name: str | None
    left: int
    stops: list[Stop]
    fill: str
    steps: list[RewardStep]
    earlier: list[RewardStep]


def measure(
    language: Language,
    rewards: Sequence[Reward],
    earned: Sequence[EarnedReward],
    referrals: ReferralCount,
) -> Progress:
    count = referrals.toward_rewards
    ahead = next_reward(rewards, count)
    marks = _window(_marks(rewards, count), count)
    stops = [
        Stop(language.short_number(mark), _percent((place + 1) / len(marks)), mark <= count)
        for place, mark in enumerate(marks)
    ]
    steps, earlier = _steps(language, rewards, earned, count)
    name, left = (ahead[0].name, ahead[1]) if ahead else (None, 0)
    return Progress(
        verified=referrals.verified,
        waiting=referrals.waiting,
        toward_rewards=count,
        adjusted=_adjusted(language, referrals.adjustments),
        next_name=name,
        left=left,
        stops=stops,
        fill=_fill(marks, count),
        steps=steps,
        earlier=earlier,
    )


def _adjusted(language: Language, amount: int) -> str:
    if not amount:
        return ""
    shown = language.signed_number(amount)
    return language.gettext("Adjusted by the newsletter: {amount}", amount=shown)


def _marks(rewards: Sequence[Reward], count: int) -> list[int]:
    found = set()
    for reward in rewards:
        if reward.recurring:
            reached = reward.times_reached(count)
            found |= {
                reward.referrals * multiple for multiple in (reached, reached + 1) if multiple
            }
        else:
            found.add(reward.referrals)
    return sorted(found)


def _window(marks: list[int], count: int) -> list[int]:
    """The milestones around the next one; the last ones when all are reached."""
    done = sum(mark <= count for mark in marks)
    first = max(0, min(done - 2, len(marks) - MOST_STOPS))
    return marks[first : first + MOST_STOPS]


def _fill(marks: list[int], count: int) -> str:
    """Milestones are drawn at equal distances, so progress between two is relative to their gap."""
    done = 0.0
    before = 0
    for mark in marks:
        if count >= mark:
            done += 1
        else:
            done += max(0, count - before) / (mark - before)
            break
        before = mark
    return _percent(done / len(marks)) if marks else "0%"


def _percent(share: float) -> str:
    return f"{share * 100:.2f}".rstrip("0").rstrip(".") + "%"


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
            needs=language.short_number(needs),
            state=None,
            left=left,
            every=every,
        )
        lines.append((needs, step))
    lines.sort(key=itemgetter(0))
    return [step for _, step in lines], earlier[::-1]


def _earned(language: Language, earned: EarnedReward) -> RewardStep:
    redeemed = earned.status == REDEEMED
    at_ms = earned.sent_ms or (earned.redeemed_ms if redeemed else earned.earned_ms)
    return RewardStep(
        name=earned.name,
        description=earned.description,
        needs=language.short_number(earned.referrals * earned.multiple),
        state=earned.state,
        every=earned.referrals if earned.recurring else 0,
        kind=earned.kind,
        earned_id=earned.id,
        code=earned.coupon_code if redeemed else None,
        link=earned.link if redeemed else None,
        day="" if at_ms is None else language.day(at_ms),
        variant=earned.variant,
        tracking_note=earned.tracking_note,
    )
