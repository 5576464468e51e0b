"""A sample of each type of event, for those who write receivers: the webhooks page and the OpenAPI
document show them, and `docs/webhooks.md` has the same fields."""

from __future__ import annotations

from typing import Any

from honeyguide.events import outbox
from honeyguide.kernel.clock import iso


def _uuid(ending: str) -> str:
    return f"019a8b1e-4c1d-7000-8000-0000000000{ending}"


def _person(email: str, name: str, code: str, *, referred: bool, count: int) -> dict[str, Any]:
    return {
        "id": _uuid("aa"),
        "email": email,
        "name": name,
        "first_name": name.split(maxsplit=1)[0],
        "referral_code": code,
        "referral_link": f"https://go.example.org/r/{code}",
        "referred": referred,
        "referral_status": "verified",
        "tot_referrals": count,
        "next_reward": None,
        "next_reward_details": None,
        "created_at": 1794700000,
    }


_CAMPAIGN = {"campaign_id": _uuid("dd")}
_REFERRER = _person("ann@example.org", "Ann Lee", "ann4k2pq", referred=False, count=3)
_REFERRED = _person("ben@example.org", "Ben Okafor", "ben7x2mz", referred=True, count=0)
_REJECTED = _REFERRED | {"referral_status": "rejected"}
_REWARD = {"id": _uuid("bb"), "name": "Sticker pack", "referrals": 3, "recurring": False}
_PARTNER = {
    "campaign": {"id": _uuid("dd"), "referral_code": "wax9k3hd", "type": "partner"},
    "partner": {"id": _uuid("ee"), "name": "The Daily Bee"},
}
_EARNED = _CAMPAIGN | {"subscriber": _REFERRER, "reward": _REWARD, "coupon_code": None}
_FACTS: dict[str, dict[str, Any]] = {
    outbox.NEW_REFERRAL: _CAMPAIGN | {"subscriber": _REFERRED, "referrer": _REFERRER},
    outbox.NEW_PARTNER_REFERRAL: _CAMPAIGN | {"subscriber": _REFERRED} | _PARTNER,
    outbox.REWARD_UNLOCKED: _EARNED,
    outbox.REWARD_REDEEMED: _EARNED | {"shipping_details": None, "variant": None},
    outbox.NEW_SUBSCRIBER: _CAMPAIGN
    | {"subscriber": _REFERRED, "status": "active", "origin": "signup"},
    outbox.SUBSCRIBER_UNSUBSCRIBED: _CAMPAIGN
    | {"subscriber": _REFERRED, "status": "unsubscribed", "origin": "signup"},
    outbox.REFERRAL_VERIFIED: _CAMPAIGN
    | {"subscriber": _REFERRED, "referrer": _REFERRER, "reason": None},
    outbox.REFERRAL_REJECTED: _CAMPAIGN
    | {"subscriber": _REJECTED, "referrer": _REFERRER, "reason": "rejected_by_hand"},
    outbox.PARTNER_REFERRAL_REVERSED: _CAMPAIGN
    | {"subscriber": _REJECTED}
    | _PARTNER
    | {"reversal": {"reason": "robot", "text": None, "amount": 2.5}},
    outbox.TEST: {"message": outbox.TEST_MESSAGE},
}


def sample(kind: str) -> dict[str, Any]:
    """What a receiver gets, as the real thing looks."""
    event = {"type": kind, "timestamp": iso(1_794_700_000_000), "id": f"msg_{_uuid('cc')}"}
    return event | _FACTS[kind]
