"""A subscriber in the states that a referral can be in, without a database."""

from typing import Any

import msgspec

from honeyguide.subscribers.subscribers import Subscriber

NOW_MS = 1_790_000_000_000

NOBODY = Subscriber(
    id="ben",
    email="ben@example.org",
    name=None,
    ref_code="bencode1",
    status="active",
    must_confirm=0,
    referrer_code=None,
    referrer_id=None,
    referral_status="verified",
    referral_reason=None,
    referral_due_ms=None,
    referral_behind=None,
    referrals_verified=0,
    referrals_pending=0,
    referrals_rejected=0,
    ip_address=None,
    user_agent=None,
    origin="api",
    utm_source=None,
    utm_campaign=None,
    created_ms=NOW_MS,
    received_ms=NOW_MS,
)


def but(subscriber: Subscriber, **fields: Any) -> Subscriber:
    return msgspec.structs.replace(subscriber, **fields)


HOLD = {"referral_status": "pending", "referral_reason": "holding_period"}
UNCONFIRMED = {
    "referral_status": "pending",
    "referral_reason": "awaiting_confirmation",
    "must_confirm": 1,
}
SCREENED = {"referral_status": "rejected", "referral_reason": "disposable_domain"}
BY_HAND = {"referral_status": "rejected", "referral_reason": "rejected_by_hand"}
LEFT = {"referral_status": "rejected", "referral_reason": "left_during_hold"}
TAKEN_BACK = {"referral_status": "rejected", "referral_reason": "reversed"}
COUNTED = {"referral_status": "verified", "referral_reason": None}

REFERRED = but(NOBODY, referrer_code="anacode1", referrer_id="ana")
PENDING = but(REFERRED, **HOLD)
REJECTED = but(REFERRED, **SCREENED)
SENT = but(NOBODY, referrer_code="pcode123", partner_campaign_id="partner")
SENT_PENDING = but(SENT, **HOLD)
SENT_REJECTED = but(SENT, **SCREENED)
CLAIMING = but(NOBODY, claimed_code="ANAcode1")
