"""What events say about subscribers and rewards, in the shape that receivers of this family of APIs
expect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from honeyguide.kernel.site import Site
from honeyguide.rewards.rewards import Reward, next_reward
from honeyguide.subscribers.subscribers import Subscriber


def person(site: Site, s: Subscriber, rewards: Sequence[Reward]) -> dict[str, Any]:
    """`rewards` are the campaign's rewards. `next_reward` is how many referrals are missing to the
    next one."""
    details = _next_reward_details(rewards, s)
    return {
        "id": s.id,
        "email": s.email,
        "name": s.name,
        "first_name": s.name.split()[0] if s.name and s.name.strip() else None,
        "referral_code": s.ref_code,
        "referral_link": site.reader_link(s.ref_code),
        "referred": s.referrer_code is not None,
        "referral_status": s.referral_status,
        "tot_referrals": s.referrals_verified,
        "next_reward": details["referrals_left"] if details else None,
        "next_reward_details": details,
        "created_at": s.created_ms // 1000,
    }


def anonymous(s: Subscriber) -> dict[str, Any]:
    """A subscriber as another account may see them: what became of the referral, not who they
    are."""
    return {
        "id": s.id,
        "referred": s.referrer_code is not None,
        "referral_status": s.referral_status,
        "created_at": s.created_ms // 1000,
    }


def _next_reward_details(rewards: Sequence[Reward], s: Subscriber) -> dict[str, Any] | None:
    found = next_reward(rewards, s.toward_rewards)
    if found is None:
        return None
    reward, left = found
    return {
        "id": reward.id,
        "name": reward.name,
        "referrals": reward.referrals,
        "referrals_left": left,
    }
