"""Endpoints for one referral (explain, verify, reject), the campaign's settings and a subscriber's
data export."""

from __future__ import annotations

import msgspec

from honeyguide.api import bodies
from honeyguide.api.call import Call, Writer
from honeyguide.api.subscriber_views import (
    DecidedReferralList,
    OneExplainedReferral,
    SubscriberExport,
    decided_view,
    explained,
)
from honeyguide.api.views import OneCampaignSettings, settings_view
from honeyguide.kernel.errors import Required
from honeyguide.screening import explanations
from honeyguide.signups import group_decisions, privacy, signups
from honeyguide.signups.group_decisions import DecisionResult
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, subscribers
from honeyguide.subscribers.referral_states import Status


async def get_subscriber_referral(at: Reading, call: Call[None]) -> OneExplainedReferral:
    """Explain a referral.

    What screening saw, which rule decided, and what would change the status. 404 if they were not
    referred.
    """
    return explained(await explanations.explain(at.tx, at.site, at.tenant, call.path["uuid"]))


async def _decide(change: Change, subscriber: str, status: Status) -> OneExplainedReferral:
    await signups.decide(change, subscriber, status)
    return explained(await explanations.explain(change.tx, change.site, change.tenant, subscriber))


async def verify_subscriber_referral(
    change: Change, call: Call[bodies.EmptyBody]
) -> OneExplainedReferral:
    """Verify a referral.

    Overrides every rule. Repeating the request changes nothing; a verified referral stays verified.
    """
    return await _decide(change, call.path["uuid"], Status.VERIFIED)


async def reject_subscriber_referral(
    change: Change, call: Call[bodies.EmptyBody]
) -> OneExplainedReferral:
    """Reject a referral.

    Overrides every rule. Repeating the request changes nothing; a verified referral cannot be
    rejected.
    """
    return await _decide(change, call.path["uuid"], Status.REJECTED)


async def decide_in_parts(
    write: Writer, call: Call[bodies.ReferralDecisionsInput]
) -> list[DecisionResult]:
    body = call.body
    if body.status is None:
        raise Required("status")
    if body.subscribers is None:
        raise Required("subscribers")
    decision = group_decisions.check(body.status, body.subscribers, body.reason)
    results = list[DecisionResult]()
    for part in group_decisions.parts_of(decision):
        results += await write(group_decisions.decide_many, part, results)
    return results


async def decide_referrals(change: Change, call: Call[list[DecisionResult]]) -> DecidedReferralList:
    """Verify or reject many referrals.

    Each is decided as if you sent it alone, and has its own line in the answer, in the order you
    sent. One that is refused does not stop the others. If the request fails midway, send it again:
    what was decided stays decided.
    """
    return DecidedReferralList([decided_view(each) for each in call.body])


async def get_campaign_settings(at: Reading, call: Call[None]) -> OneCampaignSettings:
    """Get a campaign's settings.

    How new referrals are screened, whether subscribers confirm their email address, and where links
    lead.
    """
    return settings_view(at.site, await campaigns.get(at.tx, at.tenant))


async def update_campaign_settings(
    change: Change, call: Call[bodies.CampaignSettingsUpdate]
) -> OneCampaignSettings:
    """Update a campaign's settings.

    Only the fields you send change. Existing referrals are not affected. With a null
    `destination_url`, referral links lead to the hosted signup page.
    """
    chosen = campaigns.CampaignSettings(**msgspec.structs.asdict(call.body))
    return settings_view(change.site, await campaigns.configure(change, chosen))


async def export_subscriber(at: Reading, call: Call[None]) -> SubscriberExport:
    """Export a subscriber's data.

    Everything stored about them. Other people appear only as UUIDs.
    """
    return SubscriberExport(
        await privacy.export_person(
            at.tx, at.tenant, await subscribers.get(at.tx, at.tenant, call.path["uuid"])
        )
    )
