"""Endpoints for one referral (explain, verify, reject), the campaign's settings and a subscriber's data export."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.api import bodies
from honeyguide.api.bodies import Body
from honeyguide.api.call import Call, Route
from honeyguide.api.views import View
from honeyguide.kernel.clock import iso
from honeyguide.referrals import campaigns, explanations, rules, subscribers
from honeyguide.referrals.campaigns import Campaign
from honeyguide.signups import privacy, signups
from honeyguide.store.tx import Tx

# Recorded as the decider when an API key decided.
BY = "api"


class SignalsView(View, frozen=True):
    """What screening saw when the subscriber joined."""

    own_address: bool
    alias_of_referrer: bool
    referral_loop: bool
    disposable_domain: bool
    same_network_as_referrer: bool
    signups_from_network_that_day: int
    signups_on_code_that_hour: int


class ExplainedReferral(View, frozen=True):
    subscriber_uuid: str
    status: str
    reason: str | None
    explanation: str
    due_at: str | None
    signals: SignalsView
    rule: str
    what_would_change_it: str
    decided_by: str | None
    decided_at: str | None
    referrer_code: str
    referrer_uuid: str | None
    partner_campaign_uuid: str | None


class OneReferral(View, frozen=True):
    referral: ExplainedReferral


class CampaignSettingsView(View, frozen=True):
    screening: str
    hold_days: int
    needs_confirmation: bool
    destination_url: str | None
    slug: str
    signup_page_url: str


class OneSettings(View, frozen=True):
    settings: CampaignSettingsView


class SettingsUpdate(Body, frozen=True):
    screening: str | UnsetType = UNSET
    hold_days: int | UnsetType = UNSET
    needs_confirmation: bool | UnsetType = UNSET
    destination_url: str | UnsetType | None = UNSET
    slug: str | UnsetType = UNSET


class PersonExport(View, frozen=True):
    """All data stored about one subscriber."""

    export: dict[str, Any]


def _at(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)


async def get_referral(tx: Tx, call: Call) -> OneReferral:
    found = await explanations.explain(tx, call.site, call.tenant, call.path["uuid"])
    s = found.subscriber
    return OneReferral(
        ExplainedReferral(
            s.id,
            s.referral_status,
            found.reason,
            found.explanation,
            _at(s.referral_due_ms),
            SignalsView(*found.signals),
            found.rule,
            found.what_would_change_it,
            s.decided_by,
            _at(s.decided_ms),
            s.referrer_code or "",
            s.referrer_id,
            s.partner_campaign_id,
        )
    )


async def _decide(tx: Tx, call: Call, status: rules.Status) -> OneReferral:
    await signups.decide(
        tx, call.site, call.tenant, call.path["uuid"], status, by=BY, now_ms=call.now_ms
    )
    return await get_referral(tx, call)


async def verify_referral(tx: Tx, call: Call) -> OneReferral:
    return await _decide(tx, call, rules.Status.VERIFIED)


async def reject_referral(tx: Tx, call: Call) -> OneReferral:
    return await _decide(tx, call, rules.Status.REJECTED)


def _settings(call: Call, campaign: Campaign) -> OneSettings:
    return OneSettings(
        CampaignSettingsView(
            campaign.screening,
            campaign.hold_days,
            bool(campaign.needs_confirmation),
            campaign.destination_url,
            campaign.slug,
            call.site.page_link(campaign.slug),
        )
    )


async def get_settings(tx: Tx, call: Call) -> OneSettings:
    return _settings(call, await campaigns.get(tx, call.tenant))


async def update_settings(tx: Tx, call: Call) -> OneSettings:
    chosen = campaigns.CampaignSettings(**msgspec.structs.asdict(call.body))
    return _settings(call, await campaigns.configure(tx, call.tenant, chosen))


async def export_subscriber(tx: Tx, call: Call) -> PersonExport:
    return PersonExport(
        await privacy.export_person(
            tx, call.tenant, await subscribers.get(tx, call.tenant, call.path["uuid"])
        )
    )


_C = "/v1/campaigns/{campaign_uuid}"
_TAG = "Referrals"
_WHY = "What screening saw, which rule decided, and what would change the status. 404 if they were not referred."
_HAND = "Overrides every rule. Repeating the request changes nothing; "


def _referral(subscriber: str) -> tuple[Route, ...]:
    path = f"{subscriber}/{{uuid}}/referral"
    return (
        Route(
            "GET",
            path,
            get_referral,
            "Explain a referral",
            OneReferral,
            snapshot=True,
            tag=_TAG,
            detail=_WHY,
        ),
        Route(
            "POST",
            f"{path}/verify",
            verify_referral,
            "Verify a referral",
            OneReferral,
            bodies.Nothing,
            tag=_TAG,
            detail=f"{_HAND}a verified referral stays verified.",
        ),
        Route(
            "POST",
            f"{path}/reject",
            reject_referral,
            "Reject a referral",
            OneReferral,
            bodies.Nothing,
            tag=_TAG,
            detail=f"{_HAND}a verified referral cannot be rejected.",
        ),
    )


ROUTES = (
    *_referral(f"{_C}/subscribers"),
    *_referral("/v2/subscribers"),
    Route(
        "GET",
        f"{_C}/subscribers/{{uuid}}/export",
        export_subscriber,
        "Export a subscriber's data",
        PersonExport,
        snapshot=True,
        tag="Subscribers",
        detail="Everything stored about them. Other people appear only as UUIDs.",
    ),
    Route(
        "GET",
        f"{_C}/settings",
        get_settings,
        "Get a campaign's settings",
        OneSettings,
        tag="Campaigns",
    ),
    Route(
        "PUT",
        f"{_C}/settings",
        update_settings,
        "Update a campaign's settings",
        OneSettings,
        SettingsUpdate,
        tag="Campaigns",
        detail="Only the fields you send change. Existing referrals are not affected. With a null `destination_url`, "
        "referral links lead to the hosted signup page.",
    ),
)
