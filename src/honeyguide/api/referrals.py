"""Endpoints for one referral (explain, verify, reject), the campaign's settings and a subscriber's
data export."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Route, of_account, resource
from honeyguide.api.subscriber_views import (
    DecidedReferralList,
    OneExplainedReferral,
    SubscriberExport,
    decided_view,
    explained,
)
from honeyguide.api.views import OneCampaignSettings, settings_view
from honeyguide.kernel.errors import Busy, Required
from honeyguide.screening import explanations
from honeyguide.signups import group_decisions, privacy, signups
from honeyguide.signups.group_decisions import DecisionResult, GroupDecision
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns, referral_states, subscribers


async def get_subscriber_referral(at: Reading, call: Call) -> OneExplainedReferral:
    return explained(await explanations.explain(at, call.path["uuid"]))


async def _decide(
    change: Change, call: Call, status: referral_states.Status
) -> OneExplainedReferral:
    await signups.decide(change, call.path["uuid"], status)
    return await get_subscriber_referral(change, call)


async def verify_subscriber_referral(change: Change, call: Call) -> OneExplainedReferral:
    return await _decide(change, call, referral_states.Status.VERIFIED)


async def reject_subscriber_referral(change: Change, call: Call) -> OneExplainedReferral:
    return await _decide(change, call, referral_states.Status.REJECTED)


async def decide_in_parts(store: Store, call: Call) -> list[DecisionResult]:
    body: bodies.ReferralDecisionsInput = call.body
    if body.status is None:
        raise Required("status")
    if body.subscribers is None:
        raise Required("subscribers")
    decision = group_decisions.check(body.status, body.subscribers, body.reason)
    results = list[DecisionResult]()
    for part in group_decisions.parts_of(decision):
        results += await store.write(_decide_part, call, part, results)
    return results


async def _decide_part(
    tx: Tx, call: Call, part: GroupDecision, earlier: list[DecisionResult]
) -> list[DecisionResult]:
    return await group_decisions.decide_many(call.change(tx), part, earlier)


async def decide_referrals(at: Reading, call: Call) -> DecidedReferralList:
    """What `decide_in_parts` did."""
    if isinstance(call.body, bodies.ReferralDecisionsInput):
        # The answer to this Idempotency-Key expired while we looked for it.
        raise Busy("A request with this Idempotency-Key is still running; try again in a moment.")
    return DecidedReferralList([decided_view(each) for each in call.body])


async def get_campaign_settings(at: Reading, call: Call) -> OneCampaignSettings:
    return settings_view(call.site, await campaigns.get(at))


async def update_campaign_settings(change: Change, call: Call) -> OneCampaignSettings:
    chosen = campaigns.CampaignSettings(**msgspec.structs.asdict(call.body))
    return settings_view(call.site, await campaigns.configure(change, chosen))


async def export_subscriber(at: Reading, call: Call) -> SubscriberExport:
    return SubscriberExport(
        await privacy.export_person(at, await subscribers.get(at, call.path["uuid"]))
    )


_C = "/v1/campaigns/{campaign_uuid}"
_WHY = (
    "What screening saw, which rule decided, and what would change the status. "
    "404 if they were not referred."
)
_HAND = "Overrides every rule. Repeating the request changes nothing; "


_referrals = resource("Referrals", right=Right.SUBSCRIBERS)
_account_referrals = resource("Referrals", right=Right.SUBSCRIBERS, twin=of_account)
_subscribers = resource("Subscribers", right=Right.SUBSCRIBERS)
_campaigns = resource("Campaigns", right=Right.CAMPAIGN)


def _referral(row: Callable[..., Route], subscribers: str) -> tuple[Route, ...]:
    path = f"{subscribers}/{{uuid}}/referral"
    return (
        row(
            "GET",
            path,
            get_subscriber_referral,
            summary="Explain a referral",
            detail=_WHY,
            answer=OneExplainedReferral,
            snapshot=True,
        ),
        row(
            "POST",
            f"{path}/verify",
            verify_subscriber_referral,
            summary="Verify a referral",
            detail=f"{_HAND}a verified referral stays verified.",
            body=bodies.EmptyBody,
            answer=OneExplainedReferral,
        ),
        row(
            "POST",
            f"{path}/reject",
            reject_subscriber_referral,
            summary="Reject a referral",
            detail=f"{_HAND}a verified referral cannot be rejected.",
            body=bodies.EmptyBody,
            answer=OneExplainedReferral,
        ),
    )


ROUTES = (
    *_referral(_referrals, f"{_C}/subscribers"),
    *_referral(_account_referrals, "/v2/subscribers"),
    _referrals(
        "POST",
        f"{_C}/referral_decisions",
        decide_referrals,
        summary="Verify or reject many referrals",
        detail="Each is decided as if you sent it alone, and has its own line in the answer, in "
        "the order you sent. One that is refused does not stop the others. If the request fails "
        "midway, send it again: what was decided stays decided.",
        body=bodies.ReferralDecisionsInput,
        answer=DecidedReferralList,
        in_parts=decide_in_parts,
    ),
    _subscribers(
        "GET",
        f"{_C}/subscribers/{{uuid}}/export",
        export_subscriber,
        summary="Export a subscriber's data",
        detail="Everything stored about them. Other people appear only as UUIDs.",
        answer=SubscriberExport,
        snapshot=True,
    ),
    _campaigns(
        "GET",
        f"{_C}/settings",
        get_campaign_settings,
        summary="Get a campaign's settings",
        detail="How new referrals are screened, whether subscribers confirm their email address, "
        "and where links lead.",
        answer=OneCampaignSettings,
    ),
    _campaigns(
        "PUT",
        f"{_C}/settings",
        update_campaign_settings,
        summary="Update a campaign's settings",
        detail="Only the fields you send change. Existing referrals are not affected. "
        "With a null `destination_url`, referral links lead to the hosted signup page.",
        body=bodies.CampaignSettingsUpdate,
        answer=OneCampaignSettings,
    ),
)
