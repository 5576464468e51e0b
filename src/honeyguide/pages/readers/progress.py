"""How far a reader has come, put so that a page only has to draw it: what is next, the track with its stops, the rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from honeyguide.referrals.earned_rewards import (
    AWAITING,
    OUT_OF_STOCK,
    REDEEMED,
    UNLOCKED,
    EarnedReward,
)
from honeyguide.referrals.rewards import MANUAL, Reward, next_reward

# What fits on a phone's width.
MOST_STOPS = 5
LOCKED = "locked"


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
    state: str
    left: int = 0
    every: int = 0  # referrals between two of a recurring reward
    kind: str = MANUAL
    earned_id: str = ""
    code: str | None = None
    link: str | None = None
    day: str = ""


@dataclass(frozen=True)
class Progress:
    verified: int
    waiting: int
    next_name: str | None
    left: int
    stops: list[Stop]
    fill: str
    steps: list[RewardStep]
    earlier: list[RewardStep]


def day(ms: int | None) -> str:
    if ms is None:
        return ""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{moment.day} {moment:%b %Y}"


def number(n: int) -> str:
    """Short enough for a stop: 950, 1k, 12.5k."""
    return f"{n / 1000:.1f}".rstrip("0").rstrip(".") + "k" if n >= 1000 else str(n)


def measure(
    rewards: Sequence[Reward], earned: Sequence[EarnedReward], verified: int, waiting: int
) -> Progress:
    ahead = next_reward(rewards, verified)
    marks = _window(_marks(rewards, verified), verified)
    stops = [
        Stop(number(mark), _percent((place + 1) / len(marks)), mark <= verified)
        for place, mark in enumerate(marks)
    ]
    steps, earlier = _steps(rewards, earned, verified)
    name, left = (ahead[0].name, ahead[1]) if ahead else (None, 0)
    return Progress(verified, waiting, name, left, stops, _fill(marks, verified), steps, earlier)


def _marks(rewards: Sequence[Reward], verified: int) -> list[int]:
    found = set()
    for reward in rewards:
        if reward.recurring:
            reached = verified // reward.referrals
            found |= {
                reward.referrals * multiple for multiple in (reached, reached + 1) if multiple
            }
        else:
            found.add(reward.referrals)
    return sorted(found)


def _window(marks: list[int], verified: int) -> list[int]:
    """The stops around the next one; the last ones when all are reached."""
    done = sum(mark <= verified for mark in marks)
    first = max(0, min(done - 2, len(marks) - MOST_STOPS))
    return marks[first : first + MOST_STOPS]


def _fill(marks: list[int], verified: int) -> str:
    """Stops stand at equal distances, so the way between two of them counts by its own length."""
    done = 0.0
    before = 0
    for mark in marks:
        if verified >= mark:
            done += 1
        else:
            done += max(0, verified - before) / (mark - before)
            break
        before = mark
    return _percent(done / len(marks)) if marks else "0%"


def _percent(share: float) -> str:
    return f"{share * 100:.2f}".rstrip("0").rstrip(".") + "%"


def _steps(
    rewards: Sequence[Reward], earned: Sequence[EarnedReward], verified: int
) -> tuple[list[RewardStep], list[RewardStep]]:
    """What was earned and what is ahead, by the number it takes; of a recurring one, all but the last claim are earlier ones."""
    lines: list[tuple[int, RewardStep]] = []
    earlier: list[RewardStep] = []
    last_claim = {
        each.reward_id: each.id for each in earned if each.recurring and each.status == REDEEMED
    }
    for each in earned:
        step = _earned(each)
        if last_claim.get(each.reward_id, each.id) != each.id and each.status == REDEEMED:
            earlier.append(step)
        else:
            lines.append((each.referrals * each.multiple, step))
    have = {each.reward_id for each in earned}
    for reward in rewards:
        if reward.recurring:
            needs = reward.referrals * (verified // reward.referrals + 1)
        elif reward.id in have:
            continue
        else:
            needs = reward.referrals
        left = max(0, needs - verified)
        every = reward.referrals if reward.recurring else 0
        lines.append(
            (needs, RewardStep(reward.name, reward.description, number(needs), LOCKED, left, every))
        )
    lines.sort(key=lambda line: line[0])
    return [step for _, step in lines], earlier[::-1]


def _earned(earned: EarnedReward) -> RewardStep:
    redeemed = earned.status == REDEEMED
    return RewardStep(
        name=earned.name,
        description=earned.description,
        needs=number(earned.referrals * earned.multiple),
        state=earned.status,
        every=earned.referrals if earned.recurring else 0,
        kind=earned.kind,
        earned_id=earned.id,
        code=earned.coupon_code if redeemed else None,
        link=earned.link if redeemed else None,
        day=day(earned.redeemed_ms if redeemed else earned.earned_ms),
    )


__all__ = [
    "AWAITING",
    "LOCKED",
    "OUT_OF_STOCK",
    "REDEEMED",
    "UNLOCKED",
    "Progress",
    "RewardStep",
    "Stop",
    "day",
    "measure",
    "number",
]
