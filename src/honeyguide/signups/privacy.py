"""Everything that is held on one person, as one JSON: for when they ask."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel.clock import iso
from honeyguide.mail import emails, stops
from honeyguide.rewards import adjustments, earned_rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.screening import evidence, screening_lists
from honeyguide.signups import claims, departures
from honeyguide.signups.claims import HiddenClaim
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import (
    clicks,
    codes,
    consents,
    hub_choices,
    notes,
    reader_links,
    reasons,
    referral_decisions,
    saved_filters,
    tags,
)
from honeyguide.subscribers.subscribers import Subscriber

# The newest events; the log keeps thirty days of them anyway.
MOST_EVENTS = 1_000


class _Event(NamedTuple):
    id: str
    type: str
    created_ms: int
    body: str | None
    deliveries: int


class _Synced(NamedTuple):
    """What an email platform was told about them."""

    platform: str
    remote_id: str | None
    synced_ms: int | None
    written: dict[str, Any] | None


class _FoundThere(NamedTuple):
    """What another tool had written about them to an email platform."""

    platform: str
    code: str | None
    link: str | None
    referrals: str | None
    reward: str | None
    coupon: str | None


_sql = beside(__file__)
_EVENTS = _sql.query("events", _Event)
_SYNCED = _sql.query("synced", _Synced)
_FOUND = _sql.query("found", _FoundThere)


def _at(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)


def _subscriber(s: Subscriber) -> dict[str, Any]:
    return {
        "uuid": s.id,
        "email": s.email,
        "name": s.name,
        "status": s.status,
        "must_confirm": s.must_confirm,
        "ref_code": s.ref_code,
        "origin": s.origin,
        "ip_address": s.ip_address,
        "user_agent": s.user_agent,
        "utm_source": s.utm_source,
        "utm_campaign": s.utm_campaign,
        "language": s.language,
        "claimed_code": s.claimed_code,
        "created_at": _at(s.created_ms),
        "received_at": _at(s.received_ms),
        "unsubscribed_at": _at(s.unsubscribed_ms),
        "referrals": {
            "verified": s.referrals_verified,
            "pending": s.referrals_pending,
            "rejected": s.referrals_rejected,
        },
    }


async def export_person(at: Reading, s: Subscriber) -> dict[str, Any]:
    """Their row and referral, what they agreed to and earned, what the operator adjusted and noted,
    events and emails about them, and how often their link was used."""
    choices = await hub_choices.of_subscriber(at, s.id)
    return {
        "subscriber": _subscriber(s),
        "referral": await _referral(at, s),
        "other_signups": [_claim(each) for each in await claims.of_subscriber(at, s.id)],
        **await _changes(at, s.id),
        "consents": [
            {"text": each.text, "privacy_url": each.privacy_url, "agreed_at": _at(each.agreed_ms)}
            for each in await consents.of_subscriber(at, s.id)
        ],
        **await _noted(at, s),
        "codes": [
            {"code": each.code, "source": each.source, "at": _at(each.created_ms)}
            for each in await codes.of_subscriber(at, s.id)
        ],
        "adjustments": [
            {
                "amount": each.amount,
                "reason": each.reason,
                "by": each.actor_kind,
                "at": _at(each.adjusted_ms),
            }
            for each in await adjustments.of_subscriber(at, s.id)
        ],
        "rewards": [_reward(earned) for earned in await earned_rewards.earned_by(at, s.id)],
        "events": await _events(at, s),
        "letters": [
            {
                "kind": each.kind,
                "to": each.to_email,
                "subject": each.subject,
                "status": each.status,
                "at": _at(each.created_ms),
            }
            for each in await emails.of_subscriber(at, s.id)
        ],
        "shows_name_to_friends": choices.shows_name,
        "on_leaderboard": choices.on_leaderboard,
        "left_program_at": _at(choices.left_program_ms),
        "emails_stopped_at": _at(choices.stopped_ms),
        "wants_no_email_at_all": await stops.is_final(at, s.id),
        "email_platforms": await _platforms(at, s.id),
        "found_on_platforms": await _found(at, s.id),
        "link_clicks": await clicks.total(at, at.tenant.campaign_id, s.ref_code),
    }


def _claim(claim: HiddenClaim) -> dict[str, Any]:
    return {
        "referrer_code": claim.referrer_code,
        "status": claim.referral_status,
        "reason": claim.referral_reason,
        "name": claim.name,
        "ip_address": claim.ip_address,
        "user_agent": claim.user_agent,
        "utm_source": claim.utm_source,
        "utm_campaign": claim.utm_campaign,
        "claimed_code": claim.claimed_code,
        "at": _at(claim.received_ms),
    }


async def _changes(at: Reading, subscriber_id: str) -> dict[str, Any]:
    """What was decided about their referral, and what the change log says of them."""
    return {
        "evidence": [
            {
                "code": each.code,
                "sentence": each.sentence,
                "value": each.value,
                "at": _at(each.found_ms),
            }
            for each in await evidence.of_subscriber(at, subscriber_id)
        ],
        "decisions": [
            {
                "before": {"status": each.before_status, "reason": each.before_reason},
                "after": {"status": each.status, "reason": each.reason},
                "by": each.actor_kind,
                "note": each.note,
                "at": _at(each.decided_ms),
            }
            for each in await referral_decisions.of_subscriber(at, subscriber_id)
        ],
        "changes": [
            {
                "action": each.action,
                "subject_uuid": each.subject_id,
                "by": each.actor_kind,
                "before": each.differences[0],
                "after": each.differences[1],
                "at": _at(each.changed_ms),
            }
            for each in await change_log.about(at, subscriber_id)
        ],
    }


async def _events(at: Reading, s: Subscriber) -> list[dict[str, Any]]:
    found = await at.all(_EVENTS, subscriber_id=s.id, most=MOST_EVENTS)
    return [
        {
            "id": event.id,
            "type": event.type,
            "at": _at(event.created_ms),
            "deliveries": event.deliveries,
            "body": _without_others(event.body, s.id) if event.body else None,
        }
        for event in found
    ]


async def _noted(at: Reading, s: Subscriber) -> dict[str, Any]:
    """What the operator added about them."""
    entry = await screening_lists.of_subscriber(at, s.id)
    return {
        "tags": await tags.of_subscriber(at, s.id),
        "notes": [
            {"text": each.text, "at": _at(each.written_ms)}
            for each in await notes.of_subscriber(at, s.id)
        ],
        "saved_filters": [
            {"name": each.name, "query": each.query} for each in await saved_filters.naming(at, s)
        ],
        "screening_list": None if entry is None else "block" if entry.is_blocked else "allow",
    }


def _without_others(body: str, subscriber_id: str) -> dict[str, Any]:
    """An event may name two people. Of the other one, this person may know nothing but the id."""
    event: dict[str, Any] = msgspec.json.decode(body)
    for role in ("subscriber", "referrer"):
        other = event.get(role)
        if isinstance(other, dict) and other.get("id") != subscriber_id:
            event[role] = {"id": other.get("id")}
    return event


async def _platforms(at: Reading, subscriber_id: str) -> list[dict[str, Any]]:
    found = await at.all(_SYNCED, subscriber_id=subscriber_id)
    return [_platform(synced) for synced in found]


async def _found(at: Reading, subscriber_id: str) -> list[dict[str, Any]]:
    found = await at.all(_FOUND, subscriber_id=subscriber_id)
    return [each._asdict() for each in found]


def _platform(synced: _Synced) -> dict[str, Any]:
    written = synced.written or {}
    return {
        "platform": synced.platform,
        "id_there": synced.remote_id,
        "synced_at": _at(synced.synced_ms),
        "fields": {
            name: reader_links.without_keys(text)
            for name, text in written.get("fields", {}).items()
        },
    }


async def _referral(at: Reading, s: Subscriber) -> dict[str, Any] | None:
    if s.referrer_code is None:
        return None
    known = await departures.of_subscriber(at, s.id)
    return {
        "referrer_code": s.referrer_code,
        "status": s.referral_status,
        "reason": s.referral_reason,
        "explanation": reasons.explain(s.referral_reason, s.referral_due_ms)
        if s.referral_reason
        else None,
        "due_at": _at(s.referral_due_ms),
        "decided_by": s.decided_by,
        "decided_at": _at(s.decided_ms),
        "ended_by_team": known.ended_by_team,
        "returned": known.returned,
    }


def _reward(earned: EarnedReward) -> dict[str, Any]:
    return {
        "uuid": earned.id,
        "reward_uuid": earned.reward_id,
        "name": earned.name,
        "status": earned.status,
        "coupon_code": earned.coupon_code,
        "earned_at": _at(earned.earned_ms),
        "unlocked_at": _at(earned.unlocked_ms),
        "redeemed_at": _at(earned.redeemed_ms),
        "variant": earned.variant,
        "shipping_details": msgspec.json.decode(earned.shipping) if earned.shipping else None,
        "sent_at": _at(earned.sent_ms),
        "tracking_note": earned.tracking_note,
        "delivered_at": _at(earned.delivered_ms),
        "claimed_at": _at(earned.claimed_ms),
        "decline_reason": earned.decline_reason,
    }
