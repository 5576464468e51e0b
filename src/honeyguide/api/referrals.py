"""Endpoints for referrals: explain, verify, reject, and what one would be."""

from __future__ import annotations

import msgspec

from honeyguide.api import bodies
from honeyguide.api.call import Call, Writer
from honeyguide.api.subscriber_views import (
    DecidedReferralList,
    OneExplainedReferral,
    OneReferralCheck,
    check_view,
    decided_view,
    explained,
)
from honeyguide.kernel.errors import Required
from honeyguide.screening import explanations
from honeyguide.signups import group_decisions, referral_checks, signups
from honeyguide.signups.group_decisions import DecisionResult
from honeyguide.signups.referral_checks import AskedSignup, ReferralCheck, TakenBack
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers.referral_states import Status


async def get_subscriber_referral(at: Reading, call: Call[None]) -> OneExplainedReferral:
    """Explain a referral.

    What screening saw, which rule decided, and what would change the status. 404 if they were not
    referred.
    """
    return explained(await explanations.explain(at, call.path["uuid"]))


async def _decide(change: Change, subscriber: str, status: Status) -> OneExplainedReferral:
    await signups.decide(change, subscriber, status)
    return explained(await explanations.explain(change, subscriber))


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


async def check_and_take_back(
    write: Writer, call: Call[bodies.ReferralCheckInput]
) -> ReferralCheck:
    asked = AskedSignup(**msgspec.structs.asdict(call.body))
    try:
        await write(referral_checks.try_out, asked)
    except TakenBack as done:
        return done.found


async def check_referral(change: Change, call: Call[ReferralCheck]) -> OneReferralCheck:
    """Check what would happen to an address.

    The decision that a signup with this code would get now, with its reason and the evidence.
    Nothing is stored, nothing is sent and nobody is notified. The address is taken as if an
    ordinary browser had followed the link. With an unknown code, or for somebody who is already
    subscribed, the decision is `rejected` and the explanation says so.
    """
    return OneReferralCheck(check_view(call.body))
