"""Rewards and imports. What somebody has reached in the other tool counts as given there, so a
later referral does not give it again; unless the operator asks us to give it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from honeyguide.events import outbox
from honeyguide.rewards import earned_rewards, rewards, rewards_elsewhere
from honeyguide.rewards.rewards import Reward
from honeyguide.rewards.rewards_elsewhere import GivenElsewhere, RestoredReward
from honeyguide.store.change import Change
from honeyguide.subscribers import referral_states


class ReachedCount(NamedTuple):
    """What a subscriber has toward rewards, before and after a part of an import."""

    subscriber_id: str
    before: int
    after: int


async def mark(change: Change, progress: Sequence[ReachedCount]) -> None:
    """Marks what these subscribers reach by the import."""
    if not progress:
        return
    offered = await change.fact(rewards.of_campaign)
    await rewards_elsewhere.mark_given(
        change,
        [
            GivenElsewhere(reward.id, each.subscriber_id, times)
            for each in progress
            for reward in offered
            if (times := _times(reward, each.after)) > _times(reward, each.before)
        ],
    )


def _times(reward: Reward, count: int) -> int:
    return reward.times_reached(referral_states.toward_rewards(count, 0))


def up_to(offered: Sequence[Reward], last: str) -> list[Reward] | None:
    """The rewards that somebody got who got this one last: by its name, or by the referrals that it
    takes. None if there is no such reward."""
    folded = last.strip().casefold()
    takes = [each.referrals for each in offered if each.name.strip().casefold() == folded]
    if not takes and folded.isascii() and folded.isdecimal():
        takes = [int(folded[:9])]
    return [each for each in offered if each.referrals <= max(takes)] if takes else None


def find(offered: Sequence[Reward], earned: RestoredReward) -> Reward | None:
    """The reward here that somebody earned in another installation of ours."""
    return next((each for each in offered if earned.is_of(each)), None)


async def mark_up_to(change: Change, last_by_id: Iterable[tuple[str, list[Reward]]]) -> None:
    """Marks rewards that the file names as given."""
    given = [
        GivenElsewhere(reward.id, subscriber_id, 1)
        for subscriber_id, got in last_by_id
        for reward in got
    ]
    await rewards_elsewhere.mark_given(change, given)


async def give(change: Change, subscriber_ids: Iterable[str]) -> None:
    """What these subscribers have reached and lack, as the operator asked."""
    for subscriber_id in subscriber_ids:
        unlocked = await earned_rewards.unlock(change, subscriber_id, is_news=False)
        await outbox.emit(change.tx, unlocked.events)
        if unlocked.given >= earned_rewards.MOST_AT_ONCE:
            await rewards.start_backfill(change)  # there may be as many again
