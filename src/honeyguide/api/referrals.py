"""Endpoints for one referral (explain, verify, reject), the campaign's settings and a subscriber's
data export."""

from __future__ import annotations

import msgspec

from honeyguide.api import bodies
from honeyguide.api.call import Call, Route
from honeyguide.api.subscriber_views import OneReferral, PersonExport, explained
from honeyguide.api.views import OneSettings, settings_view
from honeyguide.referrals import campaigns, explanations, rules, subscribers
from honeyguide.signups import privacy, signups
from honeyguide.store.tx import Tx


async def get_referral(tx: Tx, call: Call) -> OneReferral:
    return explained(await explanations.explain(tx, call.site, call.tenant, call.path["uuid"]))


async def _decide(tx: Tx, call: Call, status: rules.Status) -> OneReferral:
    await signups.decide(call.change(tx), call.path["uuid"], status)
    return await get_referral(tx, call)


async def verify_referral(tx: Tx, call: Call) -> OneReferral:
    return await _decide(tx, call, rules.Status.VERIFIED)


async def reject_referral(tx: Tx, call: Call) -> OneReferral:
    return await _decide(tx, call, rules.Status.REJECTED)


async def get_settings(tx: Tx, call: Call) -> OneSettings:
    return settings_view(call.site, await campaigns.get(tx, call.tenant))


async def update_settings(tx: Tx, call: Call) -> OneSettings:
    chosen = campaigns.CampaignSettings(**msgspec.structs.asdict(call.body))
    return settings_view(call.site, await campaigns.configure(call.change(tx), chosen))


async def export_subscriber(tx: Tx, call: Call) -> PersonExport:
    return PersonExport(
        await privacy.export_person(
            tx, call.tenant, await subscribers.get(tx, call.tenant, call.path["uuid"])
        )
    )


_C = "/v1/campaigns/{campaign_uuid}"
_WHY = (
    "What screening saw, which rule decided, and what would change the status. "
    "404 if they were not referred."
)
_HAND = "Overrides every rule. Repeating the request changes nothing; "


def _referral(version: str, subscribers: str) -> tuple[Route, ...]:
    path = f"{subscribers}/{{uuid}}/referral"
    return (
        Route(
            "GET",
            path,
            get_referral,
            operation_id=f"{version}_referrals_get_referral",
            tag="Referrals",
            summary="Explain a referral",
            detail=_WHY,
            answer=OneReferral,
            snapshot=True,
        ),
        Route(
            "POST",
            f"{path}/verify",
            verify_referral,
            operation_id=f"{version}_referrals_verify_referral",
            tag="Referrals",
            summary="Verify a referral",
            detail=f"{_HAND}a verified referral stays verified.",
            body=bodies.Nothing,
            answer=OneReferral,
        ),
        Route(
            "POST",
            f"{path}/reject",
            reject_referral,
            operation_id=f"{version}_referrals_reject_referral",
            tag="Referrals",
            summary="Reject a referral",
            detail=f"{_HAND}a verified referral cannot be rejected.",
            body=bodies.Nothing,
            answer=OneReferral,
        ),
    )


ROUTES = (
    *_referral("v1", f"{_C}/subscribers"),
    *_referral("v2", "/v2/subscribers"),
    Route(
        "GET",
        f"{_C}/subscribers/{{uuid}}/export",
        export_subscriber,
        operation_id="v1_referrals_export_subscriber",
        tag="Subscribers",
        summary="Export a subscriber's data",
        detail="Everything stored about them. Other people appear only as UUIDs.",
        answer=PersonExport,
        snapshot=True,
    ),
    Route(
        "GET",
        f"{_C}/settings",
        get_settings,
        operation_id="v1_referrals_get_settings",
        tag="Campaigns",
        summary="Get a campaign's settings",
        answer=OneSettings,
    ),
    Route(
        "PUT",
        f"{_C}/settings",
        update_settings,
        operation_id="v1_referrals_update_settings",
        tag="Campaigns",
        summary="Update a campaign's settings",
        detail="Only the fields you send change. Existing referrals are not affected. "
        "With a null `destination_url`, referral links lead to the hosted signup page.",
        body=bodies.SettingsUpdate,
        answer=OneSettings,
    ),
)
