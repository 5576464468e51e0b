"""The endpoint that says what would happen to an address that came with a code."""

from __future__ import annotations

from typing import Annotated

import msgspec

from honeyguide.api import bodies
from honeyguide.api.call import Call, Writer
from honeyguide.api.subscriber_views import EvidenceView, evidence_view
from honeyguide.api.views import View, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.public import doc
from honeyguide.signups import referral_checks
from honeyguide.signups.referral_checks import AskedSignup, ReferralCheck, TakenBack
from honeyguide.store.change import Change


class ReferralCheckView(View, frozen=True):
    decision: Annotated[
        str,
        doc(
            "What the referral would be. `rejected` also if there would be none.",
            "pending",
            enum=list(referral_checks.DECISIONS),
        ),
    ]
    reason: public.ReferralReason | None
    explanation: public.ReferralExplanation
    due_at: public.DueAt | None
    must_confirm: Annotated[bool, doc("Whether they would have to confirm their email address.")]
    evidence: Annotated[list[EvidenceView], doc("What would speak for and against it.")]


class OneReferralCheck(View, frozen=True):
    referral_check: ReferralCheckView


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
    found = call.body
    return OneReferralCheck(
        ReferralCheckView(
            decision=found.decision,
            reason=found.reason,
            explanation=found.explanation,
            due_at=iso_or_none(found.due_ms),
            must_confirm=found.must_confirm,
            evidence=[evidence_view(each) for each in found.evidence],
        )
    )
